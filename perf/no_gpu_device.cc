// SPDX-License-Identifier: Apache-2.0
// In place of gpu_device.cc where the build has no CUDA.
#include "device.h"
#include "job.h"

namespace detccl::perf {

std::unique_ptr<Device> gpu_device(int, Gpu&) {
  throw UsageError("this build has no CUDA: add --host");
}

}  // namespace detccl::perf
