// SPDX-License-Identifier: Apache-2.0
// Whether this machine can run on NVIDIA GPUs at all.
#pragma once

namespace detccl::nccl_api {

/// Whether the NVIDIA driver's library can be loaded and its device is there. Any thread.
bool nvidia_driver_present();

}  // namespace detccl::nccl_api
