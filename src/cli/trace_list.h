// SPDX-License-Identifier: Apache-2.0
// `detccl trace ls`: what there is of each rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/reader.h"

namespace detccl::cli {

struct RankListing {
  std::uint32_t rank = 0, world_size = 0, parts = 0;
  std::string host, version, contract;
  std::uint64_t operations = 0, communicators = 0, bytes = 0, lost = 0;
  std::optional<std::uint32_t> first_step, last_step;
  bool whole = false;   ///< its last file was closed
  std::string problem;  ///< why it cannot be read, or empty
};

/// Records that the file's process could not keep.
std::uint64_t lost_records(const trace::Reader& part);

/// Empty, and the reason in `error`, if there are no traces.
std::vector<RankListing> list_trace(const std::string& path, std::string& error);

/// What is odd about the ranks together, a line each: files of jobs of different sizes, ranks without a file.
std::vector<std::string> listing_notes(const std::vector<RankListing>& ranks);

/// Both end with a newline.
std::string listing_text(const std::vector<RankListing>& ranks);
std::string listing_json(const std::vector<RankListing>& ranks);

}  // namespace detccl::cli
