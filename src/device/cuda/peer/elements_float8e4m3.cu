// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/peer/launch.cuh"

namespace detccl::device::cuda::peer {

template cudaError_t launch_steps<contract::WideElement<contract::Float8E4M3>>(const Request&);
template cudaError_t launch_packets<contract::WideElement<contract::Float8E4M3>>(const Request&);
template cudaError_t load<contract::WideElement<contract::Float8E4M3>>(std::uint32_t);
template cudaError_t launch_steps<contract::NativeElement<contract::Float8E4M3>>(const Request&);
template cudaError_t launch_packets<contract::NativeElement<contract::Float8E4M3>>(const Request&);
template cudaError_t load<contract::NativeElement<contract::Float8E4M3>>(std::uint32_t);

}  // namespace detccl::device::cuda::peer
