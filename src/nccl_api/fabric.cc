// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/fabric.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "nccl_api/nvml.h"

namespace detccl::nccl_api {
namespace {

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

bool ask(const Nvml& nvml, const char* bus_id, FabricInfo& info) {
  Nvml::Device device = nullptr;
  return nvml.fabric_info != nullptr && nvml.by_bus_id(bus_id, &device) == Nvml::kSuccess &&
         nvml.fabric_info(device, &info) == Nvml::kSuccess;
}

bool disabled() {
  const char* text = std::getenv("NCCL_MNNVL_ENABLE");
  return text != nullptr && std::strcmp(text, "0") == 0;
}

}  // namespace

std::optional<Fabric> find_fabric(const char* bus_id) {
  if (disabled()) return std::nullopt;
  FabricInfo info;
  if (!ask(nvml(), bus_id, info) || info.state != kCompleted || info.status != Nvml::kSuccess)
    return std::nullopt;
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
