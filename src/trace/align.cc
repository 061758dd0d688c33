// SPDX-License-Identifier: Apache-2.0
#include "trace/align.h"

#include <algorithm>
#include <optional>

namespace detccl::trace {
namespace {

using Row = std::deque<Placed>;
using Same = bool (*)(const Record&, const Record&);

/// How far the rows agree, from these places on.
std::size_t run(const Row& a, std::size_t at_a, const Row& b, std::size_t at_b, Same same) {
  std::size_t length = 0;
  while (at_a + length < a.size() && at_b + length < b.size() && length < kLookahead &&
         same(a[at_a + length].record, b[at_b + length].record)) {
    ++length;
  }
  return length;
}

/// Where in the row, after its first operation, this one is; 0: nowhere near.
std::size_t find(const Row& row, const Record& record) {
  const std::size_t end = std::min(row.size(), kLookahead);
  for (std::size_t i = 1; i < end; ++i) {
    if (same_content(record, row[i].record)) return i;
  }
  return 0;
}

/// By equal content nearby, which says more than the calls' shapes, for equal calls are common. Nothing where
/// putting one operation in the other's place explains as much.
std::optional<Difference> explain_content(const Row& a, const Row& b) {
  const std::size_t in_a = find(a, b.front().record), in_b = find(b, a.front().record);
  if (in_a == 0 && in_b == 0) return std::nullopt;
  const std::size_t replaced = run(a, 1, b, 1, same_content);
  const std::size_t missing = in_a == 0 ? 0 : run(a, in_a, b, 0, same_content);
  const std::size_t extra = in_b == 0 ? 0 : run(a, 0, b, in_b, same_content);
  if (same_call(a.front().record, b.front().record) && replaced >= std::max(missing, extra))
    return std::nullopt;
  if (in_b == 0) return Difference::missing;
  if (in_a == 0) return Difference::extra;
  // Both are there: a change of order ends the agreement where the operation turns up again.
  if (missing > in_b) return Difference::missing;
  if (extra > in_a) return Difference::extra;
  return Difference::reordered;
}

/// By calls alone: after what was skipped, everything has other data. An operation was skipped if that makes
/// the rows agree for longer than if another one had been in its place.
Difference explain_calls(const Row& a, const Row& b) {
  const std::size_t replaced = run(a, 1, b, 1, same_call);
  const std::size_t missing = run(a, 1, b, 0, same_call), extra = run(a, 0, b, 1, same_call);
  if (a.size() > 1 && b.size() > 1 && same_call(a[0].record, b[1].record) &&
      same_call(a[1].record, b[0].record) && run(a, 2, b, 2, same_call) + 2 > std::max(missing, extra)) {
    return Difference::reordered;
  }
  if (missing > replaced && missing >= extra) return Difference::missing;
  return extra > replaced ? Difference::extra : Difference::mismatch;
}

}  // namespace

std::string_view difference_name(Difference difference) {
  switch (difference) {
    case Difference::inputs_differ:
      return "inputs_differ";
    case Difference::outputs_differ:
      return "outputs_differ";
    case Difference::missing:
      return "missing";
    case Difference::extra:
      return "extra";
    case Difference::reordered:
      return "reordered";
    case Difference::mismatch:
      return "mismatch";
  }
  return "";
}

bool same_call(const Record& a, const Record& b) {
  return a.kind == b.kind && a.type == b.type && a.op == b.op && a.peer == b.peer && a.count == b.count;
}

bool same_content(const Record& a, const Record& b) {
  return same_call(a, b) && a.input == b.input && a.output == b.output;
}

Difference align(const Row& a, const Row& b) {
  if (b.empty()) return Difference::missing;
  if (a.empty()) return Difference::extra;
  if (const auto difference = explain_content(a, b)) return *difference;
  const Record &first_a = a.front().record, &first_b = b.front().record;
  if (!same_call(first_a, first_b)) return explain_calls(a, b);
  return first_a.input == first_b.input ? Difference::outputs_differ : Difference::inputs_differ;
}

}  // namespace detccl::trace
