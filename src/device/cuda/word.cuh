// SPDX-License-Identifier: Apache-2.0
// A vector as a word of a fingerprint.
#pragma once

#include "device/cuda/fragment.cuh"
#include "fingerprint/mix.h"

namespace detccl::device::cuda {

template <int kBytes>
__device__ __forceinline__ fingerprint::Word word_of(const Fragment<kBytes>& f) {
  static_assert(kBytes == 16);
  return {f.template get<std::uint64_t>(0), f.template get<std::uint64_t>(1)};
}

}  // namespace detccl::device::cuda
