// SPDX-License-Identifier: Apache-2.0
// For builds without the CUDA runtime.
#include "device.h"

namespace trainer {

std::unique_ptr<Device> open_gpu(int) {
  return nullptr;
}

}  // namespace trainer
