// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/fabric.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace detccl::nccl_api {
namespace {

// Of NVML's interface, whose header is not everywhere: what is asked for here has not changed since driver
// 545.
constexpr int kSuccess = 0;
constexpr unsigned char kCompleted = 3;  // the GPU has registered with the fabric

struct FabricInfo {
  unsigned int version = sizeof(FabricInfo) | 2u << 24;
  unsigned char cluster[16] = {};
  int status = 0;
  unsigned int clique = 0;
  unsigned char state = 0;
  unsigned int health = 0;
};
static_assert(sizeof(FabricInfo) == 36);

using Device = void*;

/// The library stays loaded and initialised once it is there: NCCL uses it too.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    int (*init)() = nullptr;
    if (!find(init, "nvmlInit_v2") || !find(by_bus_id_, "nvmlDeviceGetHandleByPciBusId_v2") ||
        !find(fabric_info_, "nvmlDeviceGetGpuFabricInfoV") || init() != kSuccess)
      fabric_info_ = nullptr;
  }

  bool ask(const char* bus_id, FabricInfo& info) const {
    Device device = nullptr;
    return fabric_info_ != nullptr && by_bus_id_(bus_id, &device) == kSuccess &&
           fabric_info_(device, &info) == kSuccess;
  }

 private:
  template <class Function>
  bool find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  void* library_;
  int (*by_bus_id_)(const char*, Device*) = nullptr;
  int (*fabric_info_)(Device, FabricInfo*) = nullptr;
};

bool disabled() {
  const char* text = std::getenv("NCCL_MNNVL_ENABLE");
  return text != nullptr && std::strcmp(text, "0") == 0;
}

}  // namespace

std::optional<Fabric> find_fabric(const char* bus_id) {
  if (disabled()) return std::nullopt;
  static const Nvml nvml;
  FabricInfo info;
  if (!nvml.ask(bus_id, info) || info.state != kCompleted || info.status != kSuccess) return std::nullopt;
  Fabric fabric;
  std::copy(std::begin(info.cluster), std::end(info.cluster), fabric.cluster.begin());
  fabric.clique = info.clique;
  // Hosts with NVSwitch but without a fabric between them register too, with no cluster.
  if (fabric.cluster == Fabric{}.cluster) return std::nullopt;
  return fabric;
}

std::uint64_t domain_number(const std::optional<Fabric>& fabric, std::uint64_t host) {
  if (!fabric) return host;
  std::uint64_t number = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&number](std::uint8_t byte) { number = (number ^ byte) * 0x100000001b3; };
  for (const std::uint8_t byte : fabric->cluster)
    add(byte);
  for (int shift = 0; shift < 32; shift += 8)
    add(static_cast<std::uint8_t>(fabric->clique >> shift));
  return number;
}

}  // namespace detccl::nccl_api
