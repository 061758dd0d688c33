// SPDX-License-Identifier: Apache-2.0
// What is asked of NVIDIA's management library, whose header is not everywhere: it has not changed since
// driver 545.
#pragma once

namespace detccl::nccl_api {

/// Functions are null where the library, or the function, is not there. They return kSuccess if all is well.
struct Nvml {
  using Device = void*;
  static constexpr int kSuccess = 0;

  /// "0000:1b:00.0"; GPUs that CUDA_VISIBLE_DEVICES hides are found too.
  int (*by_bus_id)(const char* bus_id, Device* device) = nullptr;
  int (*fabric_info)(Device device, void* info) = nullptr;
  /// `capability`: kNvlink. `status`: kConnected if there is NVLink between the two.
  int (*p2p_status)(Device device, Device other, int capability, int* status) = nullptr;
  static constexpr int kNvlink = 2, kConnected = 0;
};

/// The library stays loaded and initialised once it is there: NCCL uses it too. Any thread.
const Nvml& nvml();

}  // namespace detccl::nccl_api
