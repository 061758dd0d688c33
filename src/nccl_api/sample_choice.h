// SPDX-License-Identifier: Apache-2.0
// Which of a communicator's reductions also run natively, into memory of their own, so that a profiler has a
// native time for them: DETCCL_PROFILER_SHADOW and DETCCL_PROFILER_CALIBRATE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "engine/reduction.h"
#include "nccl_api/environment.h"
#include "nccl_api/hello.h"

namespace detccl::nccl_api {

enum class Sample : std::uint8_t { no, shadow, calibration };

/// One of every so many, each time another of them, for programs repeat themselves. One thread at a time.
class OneOfEvery {
 public:
  /// 0: none.
  explicit OneOfEvery(std::uint32_t every) : every_(every) {}

  /// To be asked once for each, in their order.
  bool due();

 private:
  std::uint32_t every_;
  std::uint64_t asked_ = 0;
};

/// One communicator's. One thread at a time.
class SampleChoice {
 public:
  /// `every`: one of so many reductions is a shadow sample; 0: none. `calibrations`: so many of each class
  /// (collective, type, power of two of bytes) are calibrations, from the second on, as the first one has
  /// connections and plans to make.
  SampleChoice(std::uint32_t every, std::uint32_t calibrations)
      : shadow_(every), calibrations_(calibrations) {}
  explicit SampleChoice(const Configuration& configuration)
      : SampleChoice(configuration.profiler_shadow, configuration.profiler_calibrate) {}

  /// To be asked once for each reduction, in their order, so that it is the same on all ranks.
  Sample due(const engine::Reduction& call);

 private:
  bool is_calibration(const engine::Reduction& call);

  OneOfEvery shadow_;
  std::uint32_t calibrations_;
  std::map<std::uint32_t, std::uint32_t> seen_;  ///< of each class, while it is calibrated
};

/// On GPUs: what keeps a communicator's reductions from being sampled although this rank could, as a profiler
/// is told; null: nothing. `hellos`: of the communicator's ranks, so that all come to the same.
const char* find_sampling_obstacle(std::span<const Hello> hellos);

/// Results of more bytes than this are not sampled: the native one takes as much memory.
inline constexpr std::size_t kMostSampledBytes = std::size_t{64} << 20;

/// Whether the environment asks for samples.
inline bool samples(const Configuration& configuration) {
  return configuration.profiler_shadow != 0 || configuration.profiler_calibrate != 0;
}

}  // namespace detccl::nccl_api
