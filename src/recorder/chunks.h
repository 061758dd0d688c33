// SPDX-License-Identifier: Apache-2.0
// The chunk tables of a trace: into how many chunks a payload is cut, and the table that their sums make.
#pragma once

#include <cstdint>
#include <span>

#include "fingerprint/mix.h"
#include "trace/tables.h"

namespace detccl::recorder {

/// `count` chunks of `bytes` bytes; the last one may be shorter.
struct Chunks {
  std::uint64_t bytes = 0, count = 0;
};

/// Of a payload's table: chunks of `wanted` bytes, or of twice as many, or four times …, so that there are no
/// more than a table has. `wanted`: a multiple of 16, or 0 for one chunk of all bytes.
Chunks chunks_of(std::uint64_t payload_bytes, std::uint64_t wanted);

/// `sums`: of each chunk, at its place in the payload.
trace::ChunkTable chunk_table(std::uint64_t payload_bytes, std::uint64_t chunk_bytes, bool is_output,
                              std::span<const fingerprint::Sums> sums);

}  // namespace detccl::recorder
