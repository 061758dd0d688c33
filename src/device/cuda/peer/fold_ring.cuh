// SPDX-License-Identifier: Apache-2.0
// Folds of many steps by bulk copies through a ring of tiles in shared memory. One warp moves: it waits for
// peers, loads operands, stores results and tells peers; the other warps fold what has been loaded. So while
// one step's last results are stored, the next step's operands are loaded and folded already.
#pragma once

#include "device/cuda/peer/aligned_fold.cuh"
#include "device/cuda/peer/bulk.cuh"
#include "device/cuda/peer/places.cuh"
#include "device/cuda/peer/roles.cuh"
#include "device/cuda/peer/steps_record.cuh"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

/// Tile number t is in place t % kFoldTiles, and its barriers are in phase t / kFoldTiles.
struct FoldRing {
  std::byte* tiles;
  std::uint64_t* loaded;
  std::uint64_t* folded;
  volatile bool* given_up;  ///< no more tiles will be loaded; the one that is waited for has not been
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// Goes through an operation's tiles: every step has at least one, of no bytes if there is nothing to fold.
/// A tile has `kPart` bytes of each operand, and the results take the place of the first operand.
template <std::uint32_t kPart>
class TileCursor {
 public:
  __device__ TileCursor(const Places& places, std::uint32_t steps) : places_(places), steps_(steps) {
    begin_step();
  }

  __device__ bool ended() const { return step_ == steps_; }
  __device__ std::uint32_t step() const { return step_; }
  __device__ std::uint32_t number() const { return number_; }
  __device__ std::uint32_t place() const { return number_ % kFoldTiles; }
  __device__ std::uint32_t phase() const { return number_ / kFoldTiles; }
  __device__ std::uint32_t at() const { return at_; }
  __device__ std::uint32_t size() const { return min(kPart, bytes_ - at_); }
  __device__ bool is_last_of_step() const { return at_ + kPart >= bytes_; }
  /// Where the tile begins in the message.
  __device__ std::uint64_t first_byte() const {
    return places_.folded_by(places_.part.rank, step_).begin + at_;
  }

  __device__ void next() {
    ++number_;
    if (!is_last_of_step()) {
      at_ += kPart;
      return;
    }
    ++step_;
    begin_step();
  }

 private:
  __device__ void begin_step() {
    at_ = 0;
    bytes_ = 0;
    if (step_ < steps_ && places_.folds()) {
      const auto bytes = static_cast<std::uint32_t>(places_.folded_by(places_.part.rank, step_).bytes);
      bytes_ = bytes / kCopyBytes * kCopyBytes;
    }
  }

  const Places& places_;
  const std::uint32_t steps_;
  std::uint32_t step_ = 0, number_ = 0, at_ = 0, bytes_ = 0;
};

template <class Shape>
inline constexpr std::uint32_t kFoldPart = kFoldTile / Shape::kGroup;

/// Each operand's parts of all tiles lie together.
template <class Shape>
__device__ __forceinline__ std::byte* part_of_tile(const FoldRing& ring, std::uint32_t operand,
                                                   std::uint32_t place) {
  return ring.tiles + (operand * kFoldTiles + place) * kFoldPart<Shape>;
}

/// By one warp; lane j deals with rank j. False if a wait was given up.
template <class Shape>
class FoldMover {
 public:
  __device__ FoldMover(const Places& places, const FoldRing& ring, std::uint64_t before, std::uint32_t steps)
      : places_(places),
        ring_(ring),
        before_(before),
        steps_(steps),
        lane_(threadIdx.x % kWarp),
        is_rank_(lane_ < places.part.layout.ranks) {}

  /// tail(i, step): folds what bytes of the step are left beyond its vectors.
  template <class Record, class Tail>
  __device__ bool run(Record& record, const Tail& tail) {
    Cursor load(places_, steps_), store(places_, steps_);
    const std::byte* from = nullptr;
    while (!store.ended()) {
      while (!load.ended() && load.number() < store.number() + kAhead) {
        if (load.at() == 0) {
          // With results to be stored there is no time to wait.
          const bool idle = load.number() == store.number();
          if (!is_ready(number_of(load.step()), idle)) {
            if (idle) return give_up(load);
            break;
          }
          if (is_rank_) from = places_.operand(lane_, range_of(load.step()), number_of(load.step()));
          bulk::fence_global();
        }
        load_tile(load, from);
        load.next();
      }
      store_tile(store);
      if (store.is_last_of_step()) {
        tail(store.step(), number_of(store.step()));
        bulk::wait_stored();
        __syncwarp();
        if (is_rank_) raise_flag(places_.part, Flag::done, lane_, number_of(store.step()));
        if (store.step() == 0 && lane_ == 0) record.reserve();
      }
      store.next();
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kPart = kFoldPart<Shape>, kAhead = kFoldTiles - 2;
  using Cursor = TileCursor<kPart>;

  __device__ std::uint64_t number_of(std::uint32_t i) const { return before_ + i + 1; }
  __device__ Range range_of(std::uint32_t i) const { return places_.folded_by(places_.part.rank, i); }

  /// Whether all ranks' values are there. `wait`: until they are; false: given up.
  __device__ bool is_ready(std::uint64_t step, bool wait) const {
    std::uint64_t seen = 0;
    bool ready = true;
    if (is_rank_) {
      ready = wait ? await_flag(places_.part, Flag::ready, lane_, step, seen)
                   : load_flag(places_.part, Flag::ready, lane_) >= step;
    }
    return __all_sync(0xffffffff, static_cast<int>(ready)) != 0;
  }

  __device__ void load_tile(const Cursor& c, const std::byte* from) const {
    // What was in the place has been folded and stored.
    bulk::wait_read<kFoldTiles - kAhead>();
    __syncwarp();
    std::uint64_t* const loaded = &ring_.loaded[c.place()];
    if (lane_ == 0) bulk::expect(loaded, places_.part.layout.ranks * c.size());
    __syncwarp();
    if (is_rank_ && c.size() != 0)
      bulk::load(part_of_tile<Shape>(ring_, lane_, c.place()), from + c.at(), c.size(), loaded);
  }

  __device__ void store_tile(const Cursor& c) {
    if (c.at() == 0)
      to_ = is_rank_ ? places_.result(lane_, range_of(c.step()), number_of(c.step())) : nullptr;
    bulk::wait(&ring_.folded[c.place()], c.phase());
    if (to_ != nullptr && c.size() != 0)
      bulk::store(to_ + c.at(), part_of_tile<Shape>(ring_, 0, c.place()), c.size());
    bulk::commit();
  }

  __device__ bool give_up(const Cursor& c) const {
    __syncwarp();
    if (lane_ == 0) {
      *ring_.given_up = true;
      bulk::arrive(&ring_.loaded[c.place()]);
    }
    return false;
  }

  const Places& places_;
  const FoldRing& ring_;
  const std::uint64_t before_;
  const std::uint32_t steps_, lane_;
  const bool is_rank_;
  std::byte* to_ = nullptr;
};

/// By all folders, of which this is number `folder`. False if the mover has given up.
template <class Vectors, class Shape, bool kRecorded>
__device__ bool fold_tiles(const Places& places, const FoldRing& ring,
                           const Arguments<Shape::kCapacity>& fold, StepsRecord<kRecorded>& record,
                           std::uint32_t steps, std::uint32_t folder) {
  constexpr std::uint32_t kFolders = Roles<kRecorded>::kFolders;
  constexpr std::uint32_t kPart = kFoldPart<Shape>;
  constexpr auto kVectorBytes = static_cast<std::uint32_t>(Shape::kVector * sizeof(typename Shape::Bits));
  constexpr std::uint32_t kVectors = kPart / kVectorBytes, kUnroll = (kVectors + kFolders - 1) / kFolders;
  const auto in_tiles =
      with_operands<Shape>(fold, [&](std::uint32_t j) { return part_of_tile<Shape>(ring, j, 0); });
  const Vectors vectors(in_tiles);
  for (TileCursor<kPart> c(places, steps); !c.ended(); c.next()) {
    bulk::wait(&ring.loaded[c.place()], c.phase());
    if (*ring.given_up) return false;
    const std::uint32_t count = c.size() / kVectorBytes, begin = c.place() * kPart;
    // Where a tile is too small for all, those go on who had nothing of the one before.
    const std::uint32_t start = (folder + kFolders - c.number() * kVectors % kFolders) % kFolders;
    for (std::uint32_t first = start; first < count; first += kFolders * kUnroll) {
      typename Vectors::Loaded loaded[kUnroll] = {};
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = first + u * kFolders;
        if (v < count) vectors.load(loaded[u], (begin + v * kVectorBytes) / sizeof(typename Shape::Bits));
      }
      // Nobody else reads this vector, so the result has its place.
      const auto put = [&](const Fragment<kVectorBytes>& result, std::uint32_t v) {
        if (v < count) write(result, ring.tiles + begin + v * kVectorBytes);
      };
      if constexpr (!kRecorded) {
#pragma unroll
        for (std::uint32_t u = 0; u < kUnroll; ++u)
          put(vectors.result(loaded[u]), first + u * kFolders);
      } else {
        const std::byte* const own = part_of_tile<Shape>(ring, places.part.rank, c.place());
        Fragment<kVectorBytes> given[kUnroll] = {}, results[kUnroll];
#pragma unroll
        for (std::uint32_t u = 0; u < kUnroll; ++u) {
          results[u] = vectors.result(loaded[u]);
          const std::uint32_t v = first + u * kFolders;
          if (v < count) read(given[u], own + v * kVectorBytes);
        }
#pragma unroll
        for (std::uint32_t u = 0; u < kUnroll; ++u)
          put(results[u], first + u * kFolders);
        const std::uint64_t number = c.first_byte() / kVectorBytes + first;
        fingerprint::Key key = fingerprint::key_at(number * kVectorBytes / kCopyBytes);
#pragma unroll
        for (std::uint32_t u = 0; u < kUnroll; ++u) {
          record.add_folded(key, given[u], results[u], first + u * kFolders < count);
          key += fingerprint::step(kFolders * kVectorBytes / kCopyBytes);
        }
      }
    }
    bulk::fence_shared();
    bulk::arrive(&ring.folded[c.place()]);
  }
  return true;
}

#endif

}  // namespace detccl::device::cuda::peer
