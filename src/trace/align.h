// SPDX-License-Identifier: Apache-2.0
// What happened where two rows of operations on one communicator first differ.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "trace/record.h"

namespace detccl::trace {

enum class Difference : std::uint8_t {
  inputs_differ,   ///< the same call with other data
  outputs_differ,  ///< the same call with the same data gave something else
  missing,         ///< B does not have A's operation
  extra,           ///< B has an operation more than A
  reordered,       ///< both have it, in another order
  mismatch,        ///< in its place B has another operation, type, op, count or root
};

/// "inputs_differ" ….
std::string_view difference_name(Difference difference);

/// Kind, type, op, root or peer, and count.
bool same_call(const Record& a, const Record& b);
/// The call and both digests.
bool same_content(const Record& a, const Record& b);

/// An operation in a row; `order` counts over all communicators of its rank.
struct Placed {
  Record record;
  std::uint32_t part = 0;
  std::uint64_t order = 0;
};

/// How many operations align() wants to see of each row.
inline constexpr std::size_t kLookahead = 64;

/// Both rows begin where they differ and have as many operations as are left, up to kLookahead at least;
/// not both are empty.
Difference align(const std::deque<Placed>& a, const std::deque<Placed>& b);

}  // namespace detccl::trace
