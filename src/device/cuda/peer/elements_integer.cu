// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/peer/launch.cuh"

namespace detccl::device::cuda::peer {

template cudaError_t launch_steps<contract::IntegerElement<std::int8_t>>(const Request&);
template cudaError_t launch_packets<contract::IntegerElement<std::int8_t>>(const Request&);
template cudaError_t load<contract::IntegerElement<std::int8_t>>(std::uint32_t);
template cudaError_t launch_steps<contract::IntegerElement<std::uint8_t>>(const Request&);
template cudaError_t launch_packets<contract::IntegerElement<std::uint8_t>>(const Request&);
template cudaError_t load<contract::IntegerElement<std::uint8_t>>(std::uint32_t);
template cudaError_t launch_steps<contract::IntegerElement<std::int32_t>>(const Request&);
template cudaError_t launch_packets<contract::IntegerElement<std::int32_t>>(const Request&);
template cudaError_t load<contract::IntegerElement<std::int32_t>>(std::uint32_t);
template cudaError_t launch_steps<contract::IntegerElement<std::uint32_t>>(const Request&);
template cudaError_t launch_packets<contract::IntegerElement<std::uint32_t>>(const Request&);
template cudaError_t load<contract::IntegerElement<std::uint32_t>>(std::uint32_t);
template cudaError_t launch_steps<contract::IntegerElement<std::int64_t>>(const Request&);
template cudaError_t launch_packets<contract::IntegerElement<std::int64_t>>(const Request&);
template cudaError_t load<contract::IntegerElement<std::int64_t>>(std::uint32_t);
template cudaError_t launch_steps<contract::IntegerElement<std::uint64_t>>(const Request&);
template cudaError_t launch_packets<contract::IntegerElement<std::uint64_t>>(const Request&);
template cudaError_t load<contract::IntegerElement<std::uint64_t>>(std::uint32_t);

}  // namespace detccl::device::cuda::peer
