// SPDX-License-Identifier: Apache-2.0
// The GPU's conversion instructions against the contract's own code, both on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace detccl::device::cuda {

/// Counts in *differing (device memory) the fp32 bit patterns, of all 2^32, for which the GPU's encoding of
/// `Format` differs from the contract's.
template <class Format>
cudaError_t count_differing_encodings(std::uint64_t* differing);

/// The same for decoding every bit pattern of `Format`; NaNs need only be NaNs.
template <class Format>
cudaError_t count_differing_decodings(std::uint64_t* differing);

}  // namespace detccl::device::cuda
