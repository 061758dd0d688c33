// SPDX-License-Identifier: Apache-2.0
// What operations would have taken natively, and so what determinism costs: from the run itself, where it
// sampled (DETCCL_PROFILER_SHADOW), else from another run without DetCCL, else from the run's calibration
// (DETCCL_PROFILER_CALIBRATE).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "cli/overhead_summaries.h"

namespace detccl::cli {

/// A ratio less one, and half its 95 % interval.
struct Overhead {
  double ratio = 0, uncertainty = 0;
};

struct Compared {
  enum class Source : std::uint8_t { baseline, shadow, calibration };
  Source source = Source::baseline;
  double native = 0;  ///< a native operation's time, nanoseconds: own cost; of a sample the median
  Overhead overhead;
  std::uint64_t pairs = 0;  ///< a rank's, of a sample or calibration
};
const char* source_name(Compared::Source source);

/// Another run's operations, by collective, type, size and number of ranks.
class Baseline {
 public:
  explicit Baseline(const Summaries& summaries);
  /// Nothing where either has no times, or the two were measured with different clocks.
  std::optional<Compared> compare(const OperationKey& key, int ranks, const Operations& operations) const;

 private:
  using Key = std::tuple<int, std::string, std::string, unsigned>;
  struct Native {
    Clock clock = Clock::none;
    double weight = 0, own = 0, variance = 0;  ///< weighted by operations
  };
  std::map<Key, Native> natives_;
};

/// From pairs of operations that ran both ways, by rank: of each rank's ratios the median and its 95 %
/// interval by order statistics, and over the ranks the medians of both, for ranks see the same operations.
/// Nothing with fewer than six pairs on every rank.
std::optional<Compared> compare_pairs(const std::vector<RankPairs>& ranks, Compared::Source source);

/// The shadow samples' answer, else the baseline's, if there is one, else the calibration's.
std::optional<Compared> compare(const Baseline* baseline, const OperationKey& key, int ranks,
                                const Operations& operations);

}  // namespace detccl::cli
