// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace detccl::engine::cuda {

/// Loads the fold kernels on `device`, which is current, unless it has been done. Any thread. Throws
/// CudaError.
void load_once(int device);

}  // namespace detccl::engine::cuda
