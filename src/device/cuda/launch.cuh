// SPDX-License-Identifier: Apache-2.0
// Host side of the fold kernel: which shape, where its vectors begin, how many blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device/cuda/fold_kernel.cuh"

namespace detccl::device::cuda {

/// Whether an operand or the result has elements of the accumulation type.
inline bool any_partial(const Request& r) {
  return r.finish == Finish::keep || std::any_of(r.operands.begin(), r.operands.end(), [](const Operand& o) {
           return o.form == plan::Form::partial;
         });
}

/// Sets head, vectors and unaligned: the number of elements to the first one at a boundary of `vector`
/// elements, if it is the same for all arrays.
template <class Shape>
void cut(Arguments<Shape::kCapacity>& a) {
  constexpr std::uint64_t kVector = Shape::kVector;
  bool vectors = true;
  const auto head_of = [&](const std::byte* data, bool partial) -> std::uint64_t {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    const std::size_t size = partial ? sizeof(typename Shape::Partial) : sizeof(typename Shape::Bits);
    if (address % size != 0) a.unaligned = true;
    return (kVector - address / size % kVector) % kVector;
  };
  const std::uint64_t head = head_of(a.result, Shape::kMixed && a.finish == Finish::keep);
  for (unsigned j = 0; j < a.k; ++j) {
    const bool partial = Shape::kMixed && (a.partial[j / 32] >> j % 32 & 1) != 0;
    if (head_of(a.operands[j], partial) != head) vectors = false;
  }
  if (!vectors || a.unaligned || a.count < head) {
    a.head = a.count;
    a.vectors = 0;
  } else {
    a.head = head;
    a.vectors = (a.count - head) / kVector;
  }
}

template <class Shape>
cudaError_t launch_shape(const Request& r) {
  Arguments<Shape::kCapacity> a;
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
  a.ranks = r.arithmetic.ranks;
  a.finish = r.finish;
  a.linear = r.arithmetic.order == contract::Order::linear;
  a.unaligned = false;
  cut<Shape>(a);

  constexpr std::uint64_t kThreads = Shape::kThreads;
  const std::uint64_t for_vectors = (a.vectors + kThreads * Shape::kUnroll - 1) / (kThreads * Shape::kUnroll);
  const std::uint64_t for_singles = (a.count - a.vectors * Shape::kVector + kThreads - 1) / kThreads;
  constexpr std::uint64_t kMaxGrid = (std::uint64_t{1} << 31) - 1;
  std::uint64_t blocks = std::min(std::max(for_vectors, for_singles), kMaxGrid);
  if (r.limits.max_blocks != 0) blocks = std::min<std::uint64_t>(blocks, r.limits.max_blocks);
  fold_kernel<Shape><<<static_cast<unsigned>(blocks), Shape::kThreads, 0, r.stream>>>(a);
  return cudaGetLastError();
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
    case Op::prod: return launch_shape<Shape<E, Op::prod, 8, true, kMixed>>(r);
    case Op::min: return launch_shape<Shape<E, Op::min, 8, true, kMixed>>(r);
    case Op::max: return launch_shape<Shape<E, Op::max, 8, true, kMixed>>(r);
    case Op::sum:
    case Op::avg:
    case Op::premulsum: break;
  }
  // Integers' reductions are the same in any order, so schedules seldom fold them.
  if constexpr (std::is_integral_v<typename E::Value>) return launch_shape<Shape<E, Op::sum, 8, true, kMixed>>(r);
  else return launch_sum<E, kMixed>(r);
}

template <class Element>
cudaError_t launch(const Request& request) {
  if constexpr (sizeof(typename Element::Partial) != sizeof(typename Element::Bits)) {
    if (any_partial(request)) return launch_sizes<Element, true>(request);
  }
  return launch_sizes<Element, false>(request);
}

}  // namespace detccl::device::cuda
