// SPDX-License-Identifier: Apache-2.0
// What a trace file says about its process: the run segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace detccl::trace {

struct RunInfo {
  std::uint32_t rank = 0;        ///< in the job
  std::uint32_t world_size = 0;  ///< ranks of the job; 0 if not known
  std::uint32_t part = 0;        ///< set by the writer: processes of this rank that traced here before
  std::uint64_t start_ns = 0;    ///< since 1970, UTC
  std::string host, version, contract, nccl;
  std::map<std::string, std::string> environment;  ///< the variables that were chosen for recording
};

/// As zero-terminated name, value, name, value …; zero bytes in a value end it.
std::vector<std::byte> encode(const RunInfo& info);
/// None for bytes that encode() cannot have written; names that are not known are skipped.
std::optional<RunInfo> decode_run_info(std::span<const std::byte> payload);

}  // namespace detccl::trace
