// SPDX-License-Identifier: Apache-2.0
// Where on a stream the parts of a plan begin, as far as they are timed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace detccl::engine::stream {

enum class Part : std::uint8_t {
  transfer,  ///< waiting for peers included
  fold,
  kernel,  ///< of schedule peer: both in one
  rest,    ///< not told apart, or neither
};

/// Of one call. One thread at a time.
class Timeline {
 public:
  static constexpr std::size_t kMostMarks = 512;

  /// A call of so many ticks. Where all of them would take more than kMostMarks, every second one is timed,
  /// or every third …; what lies between is `rest`.
  void begin(std::uint32_t ticks);

  /// `part` of `tick`, or of a later one, begins. Whether a mark is to be put there: not where what is there
  /// is the same already.
  bool enter(Part part, std::uint32_t tick);
  /// Nothing of the call comes after this.
  bool end();

  /// What begins at each.
  std::span<const Part> marks() const { return marks_; }

  /// Of transfer, fold and kernel.
  using Times = std::array<std::uint64_t, 3>;
  /// `between`: nanoseconds from each mark to the next one, one less than there are marks.
  Times sums(std::span<const std::uint64_t> between) const;

 private:
  bool turn_to(Part part);

  std::uint32_t every_ = 1;  ///< ticks, of which one is timed
  std::vector<Part> marks_;
};

}  // namespace detccl::engine::stream
