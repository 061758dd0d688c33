// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/peer/launch.cuh"

namespace detccl::device::cuda::peer {

template cudaError_t launch_steps<contract::FloatElement<float>>(const Request&);
template cudaError_t launch_packets<contract::FloatElement<float>>(const Request&);
template cudaError_t load<contract::FloatElement<float>>(std::uint32_t);
template cudaError_t launch_steps<contract::FloatElement<double>>(const Request&);
template cudaError_t launch_packets<contract::FloatElement<double>>(const Request&);
template cudaError_t load<contract::FloatElement<double>>(std::uint32_t);

}  // namespace detccl::device::cuda::peer
