// SPDX-License-Identifier: Apache-2.0
// Tells a profiler (profile/operation.h) of a communicator's reductions on GPUs, and how long some of them
// took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cuda/part_events.h"
#include "engine/cuda/stream_engine.h"
#include "nccl_api/sample_choice.h"
#include "nccl_api/teller.h"

namespace detccl::nccl_api::gpu {

/// One thread at a time, whichever device is current: a group has communicators of several. Without an
/// observer nothing is done. Never throws, and leaves no error behind: what cannot be measured is not.
class Stopwatch {
 public:
  /// `device`: the communicator's. `phases`: of one of so many, what its time goes into; 0: of none. The
  /// others: as Teller has them.
  Stopwatch(int device, std::uint32_t phases, const engine::Settings& settings, std::uint64_t communicator,
            std::uint32_t rank, std::uint32_t ranks, bool peer)
      : device_(device), teller_(settings, communicator, rank, ranks, peer), phases_(phases) {}
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  Teller& teller() { return teller_; }

  /// Before `calls` are put on their streams as one batch, …; `timed`: whether they may be measured.
  void before(const std::vector<engine::cuda::StreamCall>& calls, bool timed = true);
  /// What is to go into engine::cuda::Work::parts, …
  engine::cuda::PartEvents* parts() { return current_ == nullptr ? nullptr : current_->parts; }
  /// … and after.
  void after();

 private:
  /// One of so many calls is measured, of the first ones more, for there may be few; the others cost next to
  /// nothing.
  static constexpr std::uint64_t kFirst = 64, kEveryOfFirst = 4, kEvery = 128;

  /// So many calls under way may have their phases timed, with many events each.
  static constexpr std::size_t kWithPhases = 8;

  struct Measurement {
    cudaEvent_t began = nullptr, ended = nullptr;
    engine::Reduction call;
    cudaStream_t stream = nullptr;
    engine::cuda::PartEvents* parts = nullptr;  ///< of those below; null: its phases are not timed
  };
  /// Of one measurement under way at a time.
  struct Parts {
    engine::cuda::PartEvents events;
    bool used = false;
  };

  bool measures();
  void collect();
  template <class Body>
  bool attempt(Body&& body) noexcept;
  void begin(const engine::cuda::StreamCall& call, bool whole, bool phases);
  void make(Measurement& measurement);
  engine::cuda::PartEvents* free_parts();
  void forget(Measurement& measurement);
  void forget_current();

  const int device_;
  Teller teller_;
  std::uint64_t calls_ = 0;
  OneOfEvery rarely_{kEvery};
  OneOfEvery phases_;
  std::array<Measurement, 32> measurements_;  ///< a ring
  std::size_t first_ = 0, under_way_ = 0;     ///< of them
  std::array<Parts, kWithPhases> parts_;
  Measurement* current_ = nullptr;
};

}  // namespace detccl::nccl_api::gpu
