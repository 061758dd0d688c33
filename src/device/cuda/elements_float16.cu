// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/fold_digest.cuh"

namespace detccl::device::cuda {

template cudaError_t launch<contract::WideElement<contract::Float16>>(const Request&);
template cudaError_t load<contract::WideElement<contract::Float16>>();
template cudaError_t launch_digest<contract::WideElement<contract::Float16>>(const Request&, const Digests&);
template cudaError_t load_digest<contract::WideElement<contract::Float16>>();
template cudaError_t launch<contract::NativeElement<contract::Float16>>(const Request&);
template cudaError_t load<contract::NativeElement<contract::Float16>>();
template cudaError_t launch_digest<contract::NativeElement<contract::Float16>>(const Request&,
                                                                               const Digests&);
template cudaError_t load_digest<contract::NativeElement<contract::Float16>>();

}  // namespace detccl::device::cuda
