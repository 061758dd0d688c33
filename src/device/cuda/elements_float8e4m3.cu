// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/launch.cuh"

namespace detccl::device::cuda {

template cudaError_t launch<contract::WideElement<contract::Float8E4M3>>(const Request&);
template cudaError_t load<contract::WideElement<contract::Float8E4M3>>();
template cudaError_t launch<contract::NativeElement<contract::Float8E4M3>>(const Request&);
template cudaError_t load<contract::NativeElement<contract::Float8E4M3>>();

}  // namespace detccl::device::cuda
