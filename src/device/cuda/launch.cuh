// SPDX-License-Identifier: Apache-2.0
// Host side of the fold kernel: which shape, where its vectors begin, how many blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/cuda/fold_kernel.cuh"

namespace detccl::device::cuda {

/// Whether an operand or the result has elements of the accumulation type.
inline bool any_partial(const Request& r) {
  return r.finish == Finish::keep || std::any_of(r.operands.begin(), r.operands.end(), [](const Operand& o) {
           return o.form == plan::Form::partial;
         });
}

/// Sets head, vectors, shifted and unaligned: vectors begin where the result is aligned.
template <class Shape>
void cut(Arguments<Shape::kCapacity>& a) {
  constexpr std::uint64_t kVector = Shape::kVector;
  const auto size = [](bool partial) {
    return Shape::kMixed && partial ? sizeof(typename Shape::Partial) : sizeof(typename Shape::Bits);
  };
  const auto address = [](const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); };
  const std::size_t result_size = size(a.finish == Finish::keep);
  const bool no_vectors = address(a.result) % result_size != 0;
  a.head = (kVector - address(a.result) / result_size % kVector) % kVector;
  a.unaligned = no_vectors;
  a.shifted = false;
  for (unsigned j = 0; j < a.k; ++j) {
    const std::size_t bytes = size((a.partial[j / 32] >> j % 32 & 1) != 0);
    if (address(a.operands[j]) % bytes != 0) a.unaligned = true;
    if ((address(a.operands[j]) + a.head * bytes) % (kVector * bytes) != 0) a.shifted = true;
  }
  const std::uint64_t at_the_ends = a.head + (a.shifted ? 2 * kVector : 0);
  if (no_vectors || a.count < at_the_ends) {
    a.head = a.count;
    a.vectors = 0;
  } else {
    a.head += a.shifted ? kVector : 0;
    a.vectors = (a.count - at_the_ends) / kVector;
  }
}

struct Grid {
  unsigned blocks, threads;
};

/// Small blocks, as many as there is work for; where they may be few, large ones.
inline Grid grid_for(std::uint64_t vectors, std::uint64_t unroll, std::uint64_t singles, unsigned max_threads,
                     std::uint32_t max_blocks) {
  constexpr std::uint64_t kMaxBlocks = (std::uint64_t{1} << 31) - 1;
  const auto blocks_of = [&](std::uint64_t threads) {
    return std::max((vectors + threads * unroll - 1) / (threads * unroll), (singles + threads - 1) / threads);
  };
  constexpr unsigned kThreads = 256;
  const std::uint64_t limit = max_blocks == 0 ? kMaxBlocks : max_blocks;
  const unsigned threads = blocks_of(kThreads) > limit ? max_threads : kThreads;
  return {static_cast<unsigned>(std::min(blocks_of(threads), limit)), threads};
}

template <class Shape>
void describe(const Request& r, Arguments<Shape::kCapacity>& a) {
  a.k = static_cast<std::uint32_t>(r.operands.size());
  std::fill(std::begin(a.partial), std::end(a.partial), 0);
  std::fill(std::begin(a.scaled), std::end(a.scaled), 0);
  a.any_scaled = false;
  for (unsigned j = 0; j < a.k; ++j) {
    const auto& [data, form] = r.operands[j];
    a.operands[j] = static_cast<const std::byte*>(data);
    const bool scaled = form == plan::Form::raw && r.arithmetic.op == contract::Op::premulsum;
    a.partial[j / 32] |= static_cast<std::uint32_t>(form == plan::Form::partial) << j % 32;
    a.scaled[j / 32] |= static_cast<std::uint32_t>(scaled) << j % 32;
    a.any_scaled |= scaled;
  }
  a.result = r.result;
  a.count = r.count;
  a.scalar = r.arithmetic.scalar;
  a.scalar_memory = static_cast<const std::byte*>(r.arithmetic.scalar_memory);
  a.ranks = r.arithmetic.ranks;
  a.finish = r.finish;
  a.linear = r.arithmetic.order == contract::Order::linear;
  cut<Shape>(a);
}

template <class Shape>
cudaError_t launch_shape(const Request& r) {
  Arguments<Shape::kCapacity> a;
  describe<Shape>(r, a);
  const Grid grid = grid_for(a.vectors, Shape::kUnroll, a.count - a.vectors * Shape::kVector,
                             Shape::kMaxThreads, r.limits.max_blocks);
  void* parameters[] = {&a};
  return cudaLaunchKernel(fold_kernel<Shape>, dim3(grid.blocks), dim3(grid.threads), parameters, 0, r.stream);
}

/// Sums, the folds that schedules are made of, have kernels for few operands; any number goes through kMany.
template <class E, bool kMixed>
cudaError_t launch_sum(const Request& r) {
  using contract::Op;
  if (r.operands.size() <= 2) return launch_shape<Shape<E, Op::sum, 2, false, kMixed>>(r);
  if constexpr (!kMixed) {
    if (r.operands.size() <= 4) return launch_shape<Shape<E, Op::sum, 4, false, kMixed>>(r);
    if (r.operands.size() <= 8) return launch_shape<Shape<E, Op::sum, 8, false, kMixed>>(r);
    if (r.operands.size() <= 16) return launch_shape<Shape<E, Op::sum, 16, false, kMixed>>(r);
  }
  return launch_shape<Shape<E, Op::sum, 8, true, kMixed>>(r);
}

template <class E, bool kMixed>
cudaError_t launch_sizes(const Request& r) {
  using contract::Op;
  switch (r.arithmetic.op) {
    case Op::prod:
      return launch_shape<Shape<E, Op::prod, 8, true, kMixed>>(r);
    case Op::min:
      return launch_shape<Shape<E, Op::min, 8, true, kMixed>>(r);
    case Op::max:
      return launch_shape<Shape<E, Op::max, 8, true, kMixed>>(r);
    case Op::sum:
    case Op::avg:
    case Op::premulsum:
      break;
  }
  // Integers' reductions are the same in any order, so schedules seldom fold them.
  if constexpr (std::is_integral_v<typename E::Value>)
    return launch_shape<Shape<E, Op::sum, 8, true, kMixed>>(r);
  else
    return launch_sum<E, kMixed>(r);
}

template <class Element>
cudaError_t launch(const Request& request) {
  if constexpr (sizeof(typename Element::Partial) != sizeof(typename Element::Bits)) {
    if (any_partial(request)) return launch_sizes<Element, true>(request);
  }
  return launch_sizes<Element, false>(request);
}

/// Asking for a kernel's attributes loads it.
template <class... Shapes>
cudaError_t load_shapes() {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaSuccess;
  ((error = error == cudaSuccess ? cudaFuncGetAttributes(&attributes, fold_kernel<Shapes>) : error), ...);
  return error;
}

/// The kernels that launch_sizes() chooses from.
template <class E, bool kMixed>
cudaError_t load_sizes() {
  using contract::Op;
  cudaError_t error = load_shapes<Shape<E, Op::sum, 8, true, kMixed>, Shape<E, Op::prod, 8, true, kMixed>,
                                  Shape<E, Op::min, 8, true, kMixed>, Shape<E, Op::max, 8, true, kMixed>>();
  if constexpr (!std::is_integral_v<typename E::Value>) {
    if (error == cudaSuccess) error = load_shapes<Shape<E, Op::sum, 2, false, kMixed>>();
    if constexpr (!kMixed) {
      if (error == cudaSuccess) {
        error = load_shapes<Shape<E, Op::sum, 4, false, kMixed>, Shape<E, Op::sum, 8, false, kMixed>,
                            Shape<E, Op::sum, 16, false, kMixed>>();
      }
    }
  }
  return error;
}

template <class Element>
cudaError_t load() {
  if constexpr (sizeof(typename Element::Partial) != sizeof(typename Element::Bits)) {
    const cudaError_t error = load_sizes<Element, true>();
    if (error != cudaSuccess) return error;
  }
  return load_sizes<Element, false>();
}

}  // namespace detccl::device::cuda
