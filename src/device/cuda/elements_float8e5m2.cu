// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/launch.cuh"

namespace detccl::device::cuda {

template cudaError_t launch<contract::WideElement<contract::Float8E5M2>>(const Request&);
template cudaError_t load<contract::WideElement<contract::Float8E5M2>>();
template cudaError_t launch<contract::NativeElement<contract::Float8E5M2>>(const Request&);
template cudaError_t load<contract::NativeElement<contract::Float8E5M2>>();

}  // namespace detccl::device::cuda
