// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/nvml.h"

#include <dlfcn.h>

namespace detccl::nccl_api {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Nvml load() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  int (*init)() = nullptr;
  find(library, "nvmlInit_v2", init);
  if (init == nullptr || init() != Nvml::kSuccess) return {};
  Nvml nvml;
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.by_bus_id);
  if (nvml.by_bus_id == nullptr) return {};
  find(library, "nvmlDeviceGetGpuFabricInfoV", nvml.fabric_info);
  find(library, "nvmlDeviceGetP2PStatus", nvml.p2p_status);
  return nvml;
}

}  // namespace

const Nvml& nvml() {
  static const Nvml loaded = load();
  return loaded;
}

}  // namespace detccl::nccl_api
