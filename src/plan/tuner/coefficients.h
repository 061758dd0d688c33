// SPDX-License-Identifier: Apache-2.0
// What a machine's operations cost: the figures from which times of schedules are predicted. Seconds, bytes,
// bytes per second.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace detccl::plan::tuner {

/// What carries one rank's traffic in one direction.
struct Link {
  double latency = 0;    ///< of a message, before its first byte is there
  double bandwidth = 1;  ///< bytes per second
};

struct Coefficients {
  double call = 0;            ///< a call, whatever it does
  double step = 0;            ///< one group of transfers of a chunk: launch it, see that it is complete
  double message = 0;         ///< each transfer in it, sent or received
  Link near, far;             ///< within a group of near ranks (a host, an NVLink domain), and between groups
  double fold_launch = 0;     ///< a chunk's fold
  double fold_bandwidth = 1;  ///< bytes read and written by folds
  /// How much of the shorter one hides where a chunk's folds run beside another's transfers: 0 to 1.
  double overlap = 0;
  /// Ranks of a group that can work at the same time; 0: all of them. On host memory: processor cores.
  double processors = 0;
  /// Chunks of more payload bytes than this leave the caches, and all their bytes take so many times longer.
  /// 0: no such limit.
  double cache = 0;
  double beyond_cache = 1;
  /// By schedule (Kind), of the whole time: what was measured over what all the above gives.
  std::array<double, 6> factors{1, 1, 1, 1, 1, 1};
  /// By schedule, how far predictions are from what was measured: the median of |predicted / measured - 1|, 1
  /// at most. It says how much quicker a schedule has to look to be taken.
  std::array<double, 6> errors{};
  std::string name;    ///< of one that is built in; else empty
  std::string source;  ///< where the figures are from
};

/// A figure as it is written: its key (with the unit), that unit, and what it may be.
struct Figure {
  std::string_view key;
  double unit;  ///< in seconds, bytes, bytes per second
  double least, most;
  double& (*of)(Coefficients& c);
};

inline constexpr std::size_t kFigures = 25;
/// All of them, in the order in which they are written.
std::span<const Figure, kFigures> figures();

inline double value(const Figure& figure, const Coefficients& c) {
  return figure.of(const_cast<Coefficients&>(c));
}

/// Of the figures alone: equal figures, equal hash, on every machine.
std::uint64_t hash(const Coefficients& c);

/// "h200", "gb200" (eight GPUs a node, a 400 Gb/s port each) or "host" (ranks on one host's memory). Throws
/// std::invalid_argument for other names.
Coefficients built_in(std::string_view name);
inline constexpr std::string_view kBuiltInNames = "host, h200 or gb200";

}  // namespace detccl::plan::tuner
