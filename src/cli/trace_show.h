// SPDX-License-Identifier: Apache-2.0
// `detccl trace show`: operations, a line each, and how many were lost; and the filter that it shares with
// export.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>

#include "trace/folder.h"
#include "trace/rank_trace.h"

namespace detccl::cli {

struct RecordFilter {
  std::optional<std::uint32_t> rank;
  std::string steps, communicator, operation;

  /// Reads `steps`; throws CLI::ValidationError for what is no range and no kind of operation.
  void parse();
  /// False, and why in `error`, if `rank` is not there.
  bool finds_rank(const trace::RankFiles& files, std::string& error) const;
  bool accepts(const trace::Record& record, const trace::Tables& tables) const;

 private:
  std::uint64_t first_step_ = 0, last_step_ = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint8_t> kind_;
};

/// Calls `take` for each record of a rank that the filter lets through, in order, with its part's tables.
/// False from `take` ends it.
using TakeRecord = std::function<bool(const trace::Record&, const trace::Reader&, const trace::Tables&)>;
void for_each_record(const trace::RankTrace& trace, const RecordFilter& filter, const TakeRecord& take);

/// False, and the reason in `error`, if nothing can be read.
bool show_trace(const std::string& path, const RecordFilter& filter, std::ostream& out, std::string& error);

}  // namespace detccl::cli
