// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "recorder/ring.h"

namespace detccl::recorder {

/// The consumer of a ring. One thread; never calls CUDA.
class RingReader {
 public:
  RingReader(Slot* slots, RingControl* control, std::uint64_t capacity)
      : slots_(slots), control_(control), capacity_(capacity) {}

  /// The next record, if it has been written. Its slot may be used again from then on.
  bool next(Slot& slot);
  /// The same of a ring of detailed records (detail.h): its own slot, and those that follow.
  bool next(Slot& slot, std::vector<Slot>& further);
  /// Records dropped so far.
  std::uint64_t dropped() const;

 private:
  bool written() const;
  void done(std::uint64_t slots);

  Slot* slots_;
  RingControl* control_;
  std::uint64_t capacity_;
  std::uint64_t read_ = 0;
};

}  // namespace detccl::recorder
