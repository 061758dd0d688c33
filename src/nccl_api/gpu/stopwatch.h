// SPDX-License-Identifier: Apache-2.0
// Tells a profiler (profile/operation.h) of a communicator's reductions on GPUs, and how long some of them
// took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/choice.h"
#include "engine/cuda/stream_engine.h"
#include "profile/operation.h"

namespace detccl::nccl_api::gpu {

/// One thread at a time, on the communicator's device. Without an observer nothing is done. Never throws:
/// what cannot be measured is not.
class Stopwatch {
 public:
  /// `communicator`: as profile::Operation has it; `peer`: its reductions go over peer memory.
  Stopwatch(const engine::Settings& settings, std::uint64_t communicator, std::uint32_t rank,
            std::uint32_t ranks, bool peer)
      : chooser_(settings, ranks), communicator_(communicator), rank_(rank), ranks_(ranks), peer_(peer) {}
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Before `calls` are put on their streams as one batch, …
  void before(const std::vector<engine::cuda::StreamCall>& calls);
  /// … and after.
  void after();

 private:
  /// Every so many calls are measured; the others cost next to nothing.
  static constexpr std::uint64_t kEvery = 4;

  struct Measurement {
    cudaEvent_t began = nullptr, ended = nullptr;
    engine::Reduction call;
    cudaStream_t stream = nullptr;
    bool under_way = false;
  };

  std::string schedule_of(const engine::Reduction& call) const;
  void tell(const engine::Reduction& call, profile::Moment moment, std::uint64_t nanoseconds) const;
  void collect();
  Measurement* make(Measurement& measurement);

  mutable engine::Chooser chooser_;  ///< as the engine's
  const std::uint64_t communicator_;
  const std::uint32_t rank_, ranks_;
  const bool peer_;
  std::uint64_t calls_ = 0;
  std::array<Measurement, 32> measurements_;
  Measurement* current_ = nullptr;
};

}  // namespace detccl::nccl_api::gpu
