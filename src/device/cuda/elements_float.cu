// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/fold_digest.cuh"

namespace detccl::device::cuda {

template cudaError_t launch<contract::FloatElement<float>>(const Request&);
template cudaError_t load<contract::FloatElement<float>>();
template cudaError_t launch_digest<contract::FloatElement<float>>(const Request&, const Digests&);
template cudaError_t load_digest<contract::FloatElement<float>>();
template cudaError_t launch<contract::FloatElement<double>>(const Request&);
template cudaError_t load<contract::FloatElement<double>>();
template cudaError_t launch_digest<contract::FloatElement<double>>(const Request&, const Digests&);
template cudaError_t load_digest<contract::FloatElement<double>>();

}  // namespace detccl::device::cuda
