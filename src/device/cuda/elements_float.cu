// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/launch.cuh"

namespace detccl::device::cuda {

template cudaError_t launch<contract::FloatElement<float>>(const Request&);
template cudaError_t load<contract::FloatElement<float>>();
template cudaError_t launch<contract::FloatElement<double>>(const Request&);
template cudaError_t load<contract::FloatElement<double>>();

}  // namespace detccl::device::cuda
