// SPDX-License-Identifier: Apache-2.0
// The fold kernel. A thread folds vectors of up to 16 bytes of each operand, all operands' loads under way
// before the first addition. The result's address decides where vectors begin; operands that are not aligned
// there are read as shifted pieces. Elements before the first and after the last vector are folded one by
// one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/element.h"
#include "device/cuda/fragment.cuh"
#include "device/cuda/gpu_element.cuh"
#include "device/cuda/launch.h"

namespace detccl::device::cuda {

template <int kCapacity>
struct Arguments {
  const std::byte* operands[kCapacity];
  std::uint32_t partial[(kCapacity + 31) / 32];  ///< a bit per operand: in the accumulation type
  std::uint32_t scaled[(kCapacity + 31) / 32];   ///< likewise: multiplied by the scalar
  std::byte* result;
  std::uint64_t head;     ///< elements before the first vector
  std::uint64_t vectors;  ///< whole vectors
  std::uint64_t count;
  std::uint64_t scalar;
  const std::byte* scalar_memory;  ///< where the scalar is instead, if not null
  std::uint32_t k;                 ///< operands
  std::uint32_t ranks;
  Finish finish;
  bool linear;
  bool any_scaled;
  bool shifted;    ///< some operand's vectors are not aligned: they are neither the first nor the last ones
  bool unaligned;  ///< some address is no multiple of its element's size

  __device__ bool is_partial(unsigned j) const { return (partial[j / 32] >> j % 32 & 1) != 0; }
  __device__ bool is_scaled(unsigned j) const { return any_scaled && (scaled[j / 32] >> j % 32 & 1) != 0; }
};

/// What a kernel is compiled for.
/// `kGroup` operands, a power of two, are loaded at a time. `kMany`: more than one group; else k <= kGroup.
/// `kMixed`: an operand or the result may have elements of the accumulation type, larger than the payload's.
template <class E, contract::Op kOperation, int kGroupSize, bool kManyGroups, bool kMixedSizes>
struct Shape {
  using Element = typename GpuElementOf<E>::Type;
  using Bits = typename Element::Bits;
  using Partial = typename Element::Partial;
  using Value = typename Element::Value;
  static constexpr contract::Op kOp = kOperation;
  static constexpr int kGroup = kGroupSize;
  static constexpr bool kMany = kManyGroups;
  static constexpr bool kMixed = kMixedSizes;
  static constexpr int kCapacity = kMany ? static_cast<int>(kMaxOperands) : kGroup;
  static constexpr int kLargest = static_cast<int>(kMixed ? sizeof(Partial) : sizeof(Bits));
  static constexpr int kVector =
      kLargest == 1 ? 8 : 16 / kLargest;  ///< elements; 16 do not fit the registers
  /// Vectors per thread and operand at a time, and the largest block: what measured best on an H200. In few
  /// blocks the speed is that of the bytes under way, as many as the registers hold.
  static constexpr int kUnroll = kMany || kGroup == 16 ? 1 : kGroup == 2 ? 4 : 2;
  static constexpr int kMaxThreads = kMany || kGroup > 4 ? 512 : 1024;
};

/// The fold of `V` neighbouring elements by one thread.
template <class Shape, int V>
class Folder {
 public:
  using Args = Arguments<Shape::kCapacity>;
  using Element = typename Shape::Element;
  using Bits = typename Element::Bits;
  using Partial = typename Element::Partial;
  using Value = typename Element::Value;
  static constexpr int kGroup = Shape::kGroup;
  static constexpr bool kMixed = Shape::kMixed;
  static constexpr int kPayloadBytes = V * static_cast<int>(sizeof(Bits));
  static constexpr int kPartialBytes = V * static_cast<int>(sizeof(Partial));
  static constexpr int kFragmentBytes = kMixed ? kPartialBytes : kPayloadBytes;
  struct Values {
    Value at[V];
  };
  /// A group of operands as they were loaded.
  struct Loaded {
    Fragment<kFragmentBytes> operand[kGroup];
  };

  __device__ explicit Folder(const Args& a) : a_(a), factor_(Element::load(scalar_bits(a))) {}

  /// Loads the operands from `first` on, from element `i` on.
  __device__ void load(Loaded& loaded, std::uint64_t i, unsigned first = 0) const {
    if (V > 1 && a_.shifted)
      load_all<true>(loaded, i, first);
    else
      load_all<false>(loaded, i, first);
  }

  /// Folds what load() loaded, no more operands than one group, all of one size, to the payload's type.
  __device__ Fragment<kPayloadBytes> result(const Loaded& loaded) const {
    static_assert(!Shape::kMany && !kMixed);
    Values x;
    if (kGroup > 2 && a_.linear) {
      x = leaf(loaded, 0, 0);
      linear(x, loaded, 1, 0);
    } else {
      tree<0, kGroup>(x, loaded, 0);
    }
    return encoded(x);
  }

  /// Folds and stores what load() loaded; the groups after the first are loaded as they are needed.
  __device__ void finish(Loaded& loaded, std::uint64_t i) const {
    if constexpr (Shape::kMany) {
      store(a_.linear ? linear_groups(loaded, i) : tree_groups(loaded, i), i);
    } else if (kGroup > 2 && a_.linear) {
      Values x = leaf(loaded, 0, 0);
      linear(x, loaded, 1, 0);
      store(x, i);
    } else {
      Values x;
      tree<0, kGroup>(x, loaded, 0);
      store(x, i);
    }
  }

 private:
  __device__ static Bits scalar_bits(const Args& a) {
    if (!a.any_scaled || a.scalar_memory == nullptr) return static_cast<Bits>(a.scalar);
    return *reinterpret_cast<const Bits*>(a.scalar_memory);
  }

  template <bool kShifted, int kBytes>
  __device__ void read_some(Fragment<kBytes>& f, const std::byte* from) const {
    if (kShifted)
      read_shifted(f, from);
    else if (V == 1 && a_.unaligned)
      read_bytes(f, from);
    else
      read(f, from);
  }
  template <int kBytes>
  __device__ void write_some(const Fragment<kBytes>& f, std::byte* to) const {
    if (V == 1 && a_.unaligned)
      write_bytes(f, to);
    else
      write(f, to);
  }

  template <bool kShifted>
  __device__ void load_one(Fragment<kFragmentBytes>& f, unsigned j, std::uint64_t i) const {
    if (kMixed && !a_.is_partial(j)) {
      Fragment<kPayloadBytes> payload;
      read_some<kShifted>(payload, a_.operands[j] + i * sizeof(Bits));
#pragma unroll
      for (int w = 0; w < payload.kWords; ++w)
        f.words[w] = payload.words[w];
    } else {
      read_some<kShifted>(f, a_.operands[j] + i * (kMixed ? sizeof(Partial) : sizeof(Bits)));
    }
  }

  template <bool kShifted>
  __device__ void load_all(Loaded& loaded, std::uint64_t i, unsigned first) const {
#pragma unroll
    for (unsigned j = 0; j < kGroup; ++j) {
      if (first + j < a_.k) load_one<kShifted>(loaded.operand[j], first + j, i);
    }
  }

  /// Operand first + j's values.
  __device__ Values leaf(const Loaded& loaded, int j, unsigned first) const {
    const auto& f = loaded.operand[j];
    Values x;
    if (kMixed && a_.is_partial(first + static_cast<unsigned>(j))) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        x.at[v] = Element::from_partial(f.template get<Partial>(v));
      return x;
    }
#pragma unroll
    for (int v = 0; v < V; ++v)
      x.at[v] = Element::load(f.template get<Bits>(v));
    if (Shape::kOp == contract::Op::sum && a_.is_scaled(first + static_cast<unsigned>(j))) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        x.at[v] = Element::multiply(x.at[v], factor_);
    }
    return x;
  }

  /// left = left (+) right.
  __device__ static void combine(Values& left, const Values& right) {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      left.at[v] = contract::combine<Shape::kOp, Element>(left.at[v], right.at[v]);
    }
  }

  /// The canonical tree over the group's operands kLo … kLo + kSize - 1, those that exist. Splitting in the
  /// middle of a power of two splits what exists at the largest power of two below its number.
  template <int kLo, int kSize>
  __device__ void tree(Values& x, const Loaded& loaded, unsigned first) const {
    if constexpr (kSize == 1) {
      x = leaf(loaded, kLo, first);
    } else {
      tree<kLo, kSize / 2>(x, loaded, first);
      if (first + kLo + kSize / 2 < a_.k) {
        Values right;
        tree<kLo + kSize / 2, kSize / 2>(right, loaded, first);
        combine(x, right);
      }
    }
  }

  /// x (+) the group's operands from `from` on, left to right.
  __device__ void linear(Values& x, const Loaded& loaded, int from, unsigned first) const {
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      if (j >= from && first + static_cast<unsigned>(j) < a_.k) combine(x, leaf(loaded, j, first));
    }
  }

  __device__ Values linear_groups(Loaded& loaded, std::uint64_t i) const {
    Values x = leaf(loaded, 0, 0);
    linear(x, loaded, 1, 0);
    for (unsigned first = kGroup; first < a_.k; first += kGroup) {
      load(loaded, i, first);
      linear(x, loaded, 0, first);
    }
    return x;
  }

  /// Finished subtrees wait on a stack, the largest at the bottom, until their right sibling is finished.
  __device__ Values tree_groups(Loaded& loaded, std::uint64_t i) const {
    Values stack[kLevels];
    int depth = 0;
    Values x;
    for (unsigned group = 0;; ++group) {
      const unsigned first = group * kGroup;
      if (group != 0) load(loaded, i, first);
      tree<0, kGroup>(x, loaded, first);
      if (first + kGroup >= a_.k) break;
      for (unsigned finished = group; (finished & 1) != 0; finished >>= 1)
        pop(stack, depth, x);
      stack[depth++] = x;
    }
    while (depth > 0)
      pop(stack, depth, x);
    return x;
  }

  /// x = the stack's top (+) x.
  __device__ static void pop(const Values* stack, int& depth, Values& x) {
    Values left = stack[--depth];
    combine(left, x);
    x = left;
  }

  __device__ void store(const Values& x, std::uint64_t i) const {
    if (kMixed && a_.finish == Finish::keep) {
      Fragment<kPartialBytes> f;
#pragma unroll
      for (int v = 0; v < V; ++v)
        f.put(v, Element::to_partial(x.at[v]));
      write_some(f, a_.result + i * sizeof(Partial));
      return;
    }
    write_some(encoded(x), a_.result + i * sizeof(Bits));
  }

  /// As elements of the payload's size.
  __device__ Fragment<kPayloadBytes> encoded(const Values& x) const {
    Fragment<kPayloadBytes> f;
    if (!kMixed && sizeof(Partial) == sizeof(Bits) && a_.finish == Finish::keep) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        f.put(v, static_cast<Bits>(Element::to_partial(x.at[v])));
    } else if (Shape::kOp == contract::Op::sum && a_.finish == Finish::average) {
#pragma unroll
      for (int v = 0; v < V; ++v)
        f.put(v, Element::average(x.at[v], a_.ranks));
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v)
        f.put(v, Element::store(x.at[v]));
    }
    return f;
  }

  static constexpr int kLevels = 8;  ///< subtrees of kGroup, 2 kGroup … operands that wait at the same time
  static_assert(!Shape::kMany || (kGroup << kLevels) >= static_cast<int>(kMaxOperands));

  const Args& a_;
  const Value factor_;
};

template <class Shape>
__global__ void __launch_bounds__(Shape::kMaxThreads)
    fold_kernel(const __grid_constant__ Arguments<Shape::kCapacity> a) {
  using Vectors = Folder<Shape, Shape::kVector>;
  using Single = Folder<Shape, 1>;
  constexpr unsigned kUnroll = Shape::kUnroll, kVector = Shape::kVector;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const Vectors vectors(a);
  for (std::uint64_t tile = std::uint64_t{blockIdx.x} * blockDim.x * kUnroll; tile < a.vectors;
       tile += threads * kUnroll) {
    typename Vectors::Loaded loaded[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::uint64_t vector = tile + u * blockDim.x + threadIdx.x;
      if (vector < a.vectors) vectors.load(loaded[u], a.head + vector * kVector);
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::uint64_t vector = tile + u * blockDim.x + threadIdx.x;
      if (vector < a.vectors) vectors.finish(loaded[u], a.head + vector * kVector);
    }
  }
  const Single single(a);
  const std::uint64_t in_vectors = a.vectors * kVector;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < a.count - in_vectors;
       i += threads) {
    const std::uint64_t element = i < a.head ? i : i + in_vectors;
    typename Single::Loaded loaded;
    single.load(loaded, element);
    single.finish(loaded, element);
  }
}

}  // namespace detccl::device::cuda
