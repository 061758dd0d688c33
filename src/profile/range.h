// SPDX-License-Identifier: Apache-2.0
// Stretches of time that are shown by tools which listen to NVTX (Nsight Systems), in the domain "DetCCL".
// Ranges may overlap in any way, so that one thread can carry out several operations.
#pragma once

#include <cstdint>

namespace detccl::profile {

/// Begins at construction and ends at destruction. Without a tool it costs a look at a pointer. Any thread.
class Range {
 public:
  explicit Range(const char* name);
  ~Range() { end(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  /// This one ends and another one begins.
  void turn_into(const char* name);
  void end();

  /// Whether a tool is there, for names that take work to make.
  static bool shown();

 private:
  bool open_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace detccl::profile
