// SPDX-License-Identifier: Apache-2.0
// Host side of the kernels: which one, and with what.
#pragma once

#include <algorithm>
#include <type_traits>

#include "device/cuda/peer/packets_kernel.cuh"
#include "device/cuda/peer/steps_kernel.cuh"

namespace detccl::device::cuda::peer {

/// The fold of all ranks' values, at addresses that the kernels fill in.
template <class Shape>
void describe_fold(Arguments<Shape::kCapacity>& a, const Request& r) {
  a = {};
  a.k = r.part.layout.ranks;
  a.any_scaled = r.arithmetic.op == contract::Op::premulsum;
  if (a.any_scaled) a.scaled[0] = 0xffffffff;
  a.scalar = r.arithmetic.scalar;
  a.scalar_memory = static_cast<const std::byte*>(r.arithmetic.scalar_memory);
  a.ranks = r.arithmetic.ranks;
  a.finish = r.finish;
  a.linear = r.arithmetic.order == contract::Order::linear;
}

template <class E, contract::Op kOp, int kGroup = static_cast<int>(kMaxRanks)>
using ShapeOf = Shape<E, kOp, kGroup, false, false>;

/// Whether few ranks' sums have kernels of their own, in which more is under way. Integers' are the same in
/// any order, so they seldom come here.
template <class E>
inline constexpr bool kSmallGroups = !std::is_integral_v<typename E::Value>;

template <class Shape>
struct StepsLaunch {
  static cudaError_t launch(const Request& r) {
    StepsArguments<Shape> a;
    a.part = r.part;
    describe_fold<Shape>(a.fold, r);
    a.recording = r.recording != nullptr ? *r.recording : recorder::Recording{};
    void* parameters[] = {&a};
    const auto kernel = r.recording != nullptr ? steps_kernel<Shape, true> : steps_kernel<Shape, false>;
    return cudaLaunchKernel(kernel, dim3(r.part.partition.blocks), dim3(kThreads), parameters, r.shared_bytes,
                            r.stream);
  }
};

template <class Shape>
struct PacketsLaunch {
  static cudaError_t launch(const Request& r) {
    PacketsArguments<Shape> a;
    a.part = r.part;
    describe_fold<Shape>(a.fold, r);
    const std::uint64_t units = (r.part.partition.shard + kUnit - 1) / kUnit;
    // A unit per thread while there are blocks.
    const std::uint64_t blocks =
        std::min<std::uint64_t>((units + kPacketThreads - 1) / kPacketThreads, r.part.layout.blocks);
    // Even, whether or not this rank records: the others may.
    a.units_per_block = static_cast<std::uint32_t>((units + 2 * blocks - 1) / (2 * blocks) * 2);
    a.recording = r.recording != nullptr ? *r.recording : recorder::Recording{};
    const std::uint64_t used = (units + a.units_per_block - 1) / a.units_per_block;
    const auto threads = static_cast<unsigned>(
        std::min<std::uint64_t>((std::uint64_t{a.units_per_block} + 31) / 32 * 32, kPacketThreads));
    void* parameters[] = {&a};
    return cudaLaunchKernel(r.part.two_shot ? packets_kernel<Shape, true> : packets_kernel<Shape, false>,
                            dim3(static_cast<unsigned>(used)), dim3(threads), parameters, 0, r.stream);
  }
};

template <template <class> class Launch, class E>
cudaError_t launch_op(const Request& r) {
  using contract::Op;
  switch (r.arithmetic.op) {
    case Op::prod:
      return Launch<ShapeOf<E, Op::prod>>::launch(r);
    case Op::min:
      return Launch<ShapeOf<E, Op::min>>::launch(r);
    case Op::max:
      return Launch<ShapeOf<E, Op::max>>::launch(r);
    case Op::sum:
    case Op::avg:
    case Op::premulsum:
      break;
  }
  return Launch<ShapeOf<E, Op::sum>>::launch(r);
}

template <class Element>
cudaError_t launch_steps(const Request& request) {
  if constexpr (kSmallGroups<Element>) {
    const contract::Op op = request.arithmetic.op;
    const bool sum = op != contract::Op::prod && op != contract::Op::min && op != contract::Op::max;
    if (sum && request.part.layout.ranks == 2)
      return StepsLaunch<ShapeOf<Element, contract::Op::sum, 2>>::launch(request);
    if (sum && request.part.layout.ranks <= 4)
      return StepsLaunch<ShapeOf<Element, contract::Op::sum, 4>>::launch(request);
  }
  return launch_op<StepsLaunch, Element>(request);
}
template <class Element>
cudaError_t launch_packets(const Request& request) {
  return launch_op<PacketsLaunch, Element>(request);
}

/// Asking for a kernel's attributes loads it.
template <class Shape>
cudaError_t load_shape(std::uint32_t shared_bytes) {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaSuccess;
  for (const auto kernel : {steps_kernel<Shape, false>, steps_kernel<Shape, true>}) {
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess || shared_bytes == 0) continue;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared_bytes));
  }
  if constexpr (Shape::kGroup == static_cast<int>(kMaxRanks)) {
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, packets_kernel<Shape, false>);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, packets_kernel<Shape, true>);
  }
  return error;
}

template <class... Shapes>
cudaError_t load_peer_shapes(std::uint32_t shared_bytes) {
  cudaError_t error = cudaSuccess;
  ((error = error == cudaSuccess ? load_shape<Shapes>(shared_bytes) : error), ...);
  return error;
}

template <class E>
cudaError_t load(std::uint32_t shared_bytes) {
  using contract::Op;
  if constexpr (kSmallGroups<E>) {
    const cudaError_t error = load_peer_shapes<ShapeOf<E, Op::sum, 2>, ShapeOf<E, Op::sum, 4>>(shared_bytes);
    if (error != cudaSuccess) return error;
  }
  return load_peer_shapes<ShapeOf<E, Op::sum>, ShapeOf<E, Op::prod>, ShapeOf<E, Op::min>,
                          ShapeOf<E, Op::max>>(shared_bytes);
}

}  // namespace detccl::device::cuda::peer
