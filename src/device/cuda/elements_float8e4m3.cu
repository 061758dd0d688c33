// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/launch.cuh"

namespace detccl::device::cuda {

template cudaError_t launch<contract::WideElement<contract::Float8E4M3>>(const Request&);
template cudaError_t launch<contract::NativeElement<contract::Float8E4M3>>(const Request&);

}  // namespace detccl::device::cuda
