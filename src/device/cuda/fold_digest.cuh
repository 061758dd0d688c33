// SPDX-License-Identifier: Apache-2.0
// Folds that take fingerprints of what they read and write: of aligned whole vectors, each of which is a
// fingerprint's word.
#pragma once

#include <algorithm>

#include "device/cuda/launch.cuh"
#include "device/cuda/word.cuh"
#include "recorder/cuda/block_record.cuh"

namespace detccl::device::cuda {

template <class Shape>
struct DigestArguments {
  Arguments<Shape::kCapacity> fold;
  Digests digests;
  recorder::Recording recording;  ///< without an accumulator: none
  /// So many neighbouring blocks are at some neighbouring rows at a time, a row being a vector of each
  /// thread, and each of them at so many rows in all.
  std::uint32_t neighbours, rows_per_block;
};

/// Adds a block's part of all of them at once, the last one being the result's.
template <unsigned kThreads, unsigned kCount>
__device__ __forceinline__ void add_of_block(const Digests& to, const fingerprint::Sums (&sums)[kCount]) {
  using recorder::cuda::DeviceMemory, recorder::cuda::kWarp;
  static_assert(kCount <= kThreads);
  __shared__ fingerprint::Sums of_warps[kThreads / kWarp][kCount];
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j) {
    const fingerprint::Sums all = {recorder::cuda::sum_of_warp(sums[j].a),
                                   recorder::cuda::sum_of_warp(sums[j].b)};
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp][j] = all;
  }
  __syncthreads();
  const unsigned j = threadIdx.x;
  if (j >= kCount) return;
  PlacedSums* const place = j == kCount - 1           ? to.of_result
                            : j - to.first < to.count ? to.of_operands + (j - to.first)
                                                      : nullptr;
  if (place == nullptr) return;
  fingerprint::Sums all;
  for (const auto& of_warp : of_warps)
    all += of_warp[j];
  DeviceMemory::add(place->sums.a, all.a);
  DeviceMemory::add(place->sums.b, all.b);
}

/// Operands come through shared memory, each thread's own through its own places there: so the next vectors
/// are under way while a thread is at these, without registers for them. PTX ISA, cp.async.
template <class Shape>
inline constexpr unsigned kDigestThreads = Shape::kGroup <= 8 ? 256 : 128;
template <class Shape>
inline constexpr unsigned kDigestStages = Shape::kGroup >= 8 ? 2 : 16 / Shape::kGroup;
template <class Shape>
inline constexpr unsigned kDigestShared = kDigestStages<Shape>* Shape::kGroup* kDigestThreads<Shape> * 16;
template <class Shape>
inline constexpr unsigned kDigestBlocks = Shape::kGroup <= 4 ? 3 : 2;  ///< on a multiprocessor

__device__ __forceinline__ void load_async(std::byte* shared, const std::byte* from) {
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void commit_async() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until all but the thread's last `kLeft` groups have come.
template <unsigned kLeft>
__device__ __forceinline__ void wait_async() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

template <class Shape>
__global__ void __launch_bounds__(kDigestThreads<Shape>, kDigestBlocks<Shape>)
    fold_digest_kernel(const __grid_constant__ DigestArguments<Shape> d) {
  static_assert(!Shape::kMany && !Shape::kMixed && sizeof(typename Shape::Bits) * Shape::kVector == 16);
  using Vectors = Folder<Shape, Shape::kVector>;
  using fingerprint::Sums;
  constexpr unsigned kStages = kDigestStages<Shape>, kGroup = Shape::kGroup, kThreads = kDigestThreads<Shape>;
  extern __shared__ __align__(16) std::byte shared[];
  // Constants, so that nothing stands between the operands: their digests take turns then.
  Arguments<Shape::kCapacity> a = d.fold;
  a.k = kGroup;
  a.any_scaled = a.shifted = a.unaligned = false;
  const bool records = d.recording.accumulator != nullptr;
  const bool of_result_wanted = records || d.digests.of_result != nullptr;
  recorder::Reserved place;
  if (records && blockIdx.x == 0 && threadIdx.x == 0)
    place = recorder::reserve<recorder::cuda::DeviceMemory>(d.recording.ring, d.recording.operations);
  const auto place_of = [&](unsigned stage, unsigned j) {
    return shared + ((stage * kGroup + j) * kThreads + threadIdx.x) * 16;
  };
  const std::uint64_t stride = std::uint64_t{d.neighbours} * kThreads;
  const std::uint64_t first = blockIdx.x / d.neighbours * (stride * d.rows_per_block);
  const std::uint64_t end = min(first + stride * d.rows_per_block, a.vectors);
  std::uint64_t vector = first + blockIdx.x % d.neighbours * kThreads + threadIdx.x;
  std::uint64_t ahead = vector;  // the next one to be loaded
  const auto load_next = [&](unsigned stage) {
    if (ahead < end) {
#pragma unroll
      for (unsigned j = 0; j < kGroup; ++j) {
        load_async(place_of(stage, j), a.operands[j] + ahead * 16);
      }
    }
    commit_async();
    ahead += stride;
  };
#pragma unroll
  for (unsigned stage = 0; stage + 1 < kStages; ++stage)
    load_next(stage);
  Sums sums[kGroup + 1];  // the last one: the result's
  fingerprint::Key key = fingerprint::key_at(vector);
  const fingerprint::Wide step = fingerprint::step(stride);
  const Vectors vectors(a);
  for (unsigned stage = 0; vector < end; vector += stride, key += step) {
    load_next((stage + kStages - 1) % kStages);
    wait_async<kStages - 1>();
    typename Vectors::Loaded loaded;
#pragma unroll
    for (unsigned j = 0; j < kGroup; ++j) {
      read(loaded.operand[j], place_of(stage, j));
      sums[j] += fingerprint::mix(word_of(loaded.operand[j]), key);
    }
    const auto result = vectors.result(loaded);
    write(result, a.result + vector * 16);
    if (of_result_wanted) sums[kGroup] += fingerprint::mix(word_of(result), key);
    stage = (stage + 1) % kStages;
  }
  if (records) {
    Sums input;
#pragma unroll
    for (unsigned j = 0; j < kGroup; ++j) {
      const std::uint64_t all = j == d.digests.first ? ~std::uint64_t{0} : 0;  // an index would need memory
      input += {sums[j].a & all, sums[j].b & all};
    }
    recorder::cuda::leave_record<recorder::cuda::BlockThreads<kThreads>>(d.recording, input, sums[kGroup],
                                                                         place, true, 1, gridDim.x);
    return;
  }
  add_of_block<kThreads>(d.digests, sums);
}

/// Multiprocessors are not equally quick, so there are some times more blocks than run at once where there is
/// much to do, but no more: each ends with atomic additions.
template <class Shape>
cudaError_t launch_digest_shape(const Request& r, const Digests& digests) {
  DigestArguments<Shape> d{};
  describe<Shape>(r, d.fold);
  d.digests = digests;
  if (digests.recording != nullptr) d.recording = *digests.recording;
  int device = 0, multiprocessors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  constexpr unsigned kThreads = kDigestThreads<Shape>;
  const std::uint64_t at_once = kDigestBlocks<Shape> * static_cast<std::uint64_t>(multiprocessors);
  constexpr std::uint64_t kTimes = 16, kLeastRows = 8;  // measured on an H200
  const std::uint64_t rows = (d.fold.vectors + kThreads - 1) / kThreads;
  const std::uint64_t of_block =
      std::max({std::uint64_t{1}, std::min(rows / at_once, kLeastRows), rows / (at_once * kTimes)});
  d.neighbours = static_cast<std::uint32_t>(std::min(rows, at_once));
  d.rows_per_block = static_cast<std::uint32_t>(of_block);
  const std::uint64_t together = d.neighbours * of_block;
  const auto blocks = static_cast<unsigned>((rows + together - 1) / together * d.neighbours);
  void* parameters[] = {&d};
  return cudaLaunchKernel(fold_digest_kernel<Shape>, dim3(blocks), dim3(kThreads), parameters,
                          kDigestShared<Shape>, r.stream);
}

template <class E, int kGroup>
using DigestShape = Shape<E, contract::Op::sum, kGroup, false, false>;

template <class E>
cudaError_t launch_digest(const Request& r, const Digests& digests) {
  switch (r.operands.size()) {
    case 2:
      return launch_digest_shape<DigestShape<E, 2>>(r, digests);
    case 4:
      return launch_digest_shape<DigestShape<E, 4>>(r, digests);
    case 8:
      return launch_digest_shape<DigestShape<E, 8>>(r, digests);
    default:
      return launch_digest_shape<DigestShape<E, 16>>(r, digests);
  }
}

/// Asking for so much shared memory loads a kernel, too.
template <class... Shapes>
cudaError_t load_digest_shapes() {
  cudaError_t error = cudaSuccess;
  ((error = error == cudaSuccess ? cudaFuncSetAttribute(fold_digest_kernel<Shapes>,
                                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                        static_cast<int>(kDigestShared<Shapes>))
                                 : error),
   ...);
  return error;
}

template <class E>
cudaError_t load_digest() {
  return load_digest_shapes<DigestShape<E, 2>, DigestShape<E, 4>, DigestShape<E, 8>, DigestShape<E, 16>>();
}

}  // namespace detccl::device::cuda
