// SPDX-License-Identifier: Apache-2.0
// What the actors of a simulation do: ticks of messages, then folds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/platform.h"

namespace detccl::simulate {

struct Message {
  std::uint32_t peer = 0;  ///< an actor
  double bytes = 0;
  std::uint32_t transfers = 1;  ///< that it stands for
};

/// All messages at the same time, and when the receives are complete, a fold.
struct Tick {
  std::uint32_t number = 0;
  std::vector<Message> sends, receives;
  double launch = 0;      ///< seconds before the messages
  double elsewhere = 0;   ///< seconds that a collective takes of which no message is simulated
  double fold_bytes = 0;  ///< read and written
  std::uint32_t folds = 1;
};

/// One actor's. The k-th send from one actor to another pairs with the k-th receive.
struct Script {
  std::uint32_t rank = 0;   ///< the GPU it runs on
  std::vector<Tick> ticks;  ///< ascending numbers
  /// The folds of tick t run beside the messages of tick t + 1 and are complete before those of tick t + 2.
  bool overlapped = false;
  /// So many ticks' sends may be under way: 1, or more where a kernel has buffers for several chunks.
  std::uint32_t window = 1;
  std::optional<std::size_t> after{};  ///< the script whose first tick's messages this one waits for
};

/// A kernel per fold of a plan, one after the other.
inline double fold_seconds(const Parameters& p, double bytes, std::uint32_t folds, double bandwidth) {
  return p.fold_launch + (folds - 1) * p.fold_next + bytes / bandwidth;
}

inline std::uint64_t messages(const std::vector<Script>& scripts) {
  std::uint64_t count = 0;
  for (const Script& script : scripts)
    for (const Tick& tick : script.ticks)
      count += tick.sends.size();
  return count;
}

}  // namespace detccl::simulate
