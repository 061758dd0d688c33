// SPDX-License-Identifier: Apache-2.0
// What both ways to fold have in common.
#pragma once

#include "device/cuda/fold_kernel.cuh"

namespace detccl::device::cuda::peer {

/// `fold` for operands at aligned addresses operand(j); as constants, so that no code is made for others.
template <class Shape, class Operand>
__device__ __forceinline__ Arguments<Shape::kCapacity> with_operands(const Arguments<Shape::kCapacity>& fold,
                                                                     const Operand& operand) {
  Arguments<Shape::kCapacity> a = fold;
  a.shifted = a.unaligned = false;
  if (Shape::kGroup == 2) a.k = 2;
#pragma unroll
  for (std::uint32_t j = 0; j < Shape::kGroup; ++j)
    a.operands[j] = operand(j);
  return a;
}

/// Writes `f` `at` bytes from each result that is not null.
template <int kBytes>
__device__ __forceinline__ void write_to_all(const Fragment<kBytes>& f, std::byte* const* results,
                                             std::uint32_t ranks, std::uint32_t at) {
  for (std::uint32_t k = 0; k < ranks; ++k) {
    if (results[k] != nullptr) write(f, results[k] + at);
  }
}

template <class Shape>
__device__ void fold_element(const Arguments<Shape::kCapacity>& fold, std::byte* const* results,
                             std::uint32_t ranks, std::uint32_t element) {
  using Single = Folder<Shape, 1>;
  const Single single(fold);
  typename Single::Loaded loaded = {};
  single.load(loaded, element);
  write_to_all(single.result(loaded), results, ranks,
               element * static_cast<std::uint32_t>(sizeof(typename Shape::Bits)));
}

}  // namespace detccl::device::cuda::peer
