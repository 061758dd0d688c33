// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/driver.h"

#include <dlfcn.h>
#include <unistd.h>

namespace detccl::nccl_api {

bool nvidia_driver_present() {
  // The second device is the one of Windows' Linux subsystem.
  if (access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0) return false;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  dlclose(driver);
  return true;
}

}  // namespace detccl::nccl_api
