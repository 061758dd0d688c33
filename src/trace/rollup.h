// SPDX-License-Identifier: Apache-2.0
// Rollups: sums of record hashes, so that two traces are compared step by step before any record is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/format.h"
#include "trace/record.h"

namespace detccl::trace {

/// Of up to kRollupRecords records in a row, of one step.
struct RollupEntry {
  std::uint32_t step = 0;
  std::uint16_t count = 0;           ///< records
  std::uint16_t skip = 0;            ///< records of the segment before the first of them
  std::uint64_t segment_offset = 0;  ///< in the file, of the records segment that has the first of them
  Digest sum;
};
static_assert(sizeof(RollupEntry) == 32);

inline constexpr std::uint32_t kRollupRecords = 4096;

/// Adds each half modulo 2^64.
void add(Digest& sum, const Digest& term);

/// A record's ordinal: operations before it in the same step on the same communicator (as
/// communicator_sequence does, collectives and each peer's sends and recvs are counted together here).
class Ordinals {
 public:
  /// Call for each record, in order.
  std::uint32_t next(const Record& record);

 private:
  std::uint32_t step_ = kNoStep;
  std::unordered_map<std::uint64_t, std::uint32_t> counts_;
};

/// What a comparison looks at: communicator, ordinal, kind, type, op, peer, count and the two digests. Not
/// the sequence over all communicators, for streams may interleave otherwise in another run; nor phase,
/// flags and times.
Digest record_hash(const Record& record, std::uint32_t ordinal);

/// Builds the index of a file, record by record.
class Rollups {
 public:
  /// The record's hash. It is record `place` of the records segment at `segment_offset`.
  Digest add(const Record& record, std::uint64_t segment_offset, std::uint32_t place);

  std::span<const RollupEntry> entries() const { return entries_; }
  const Digest& total() const { return total_; }
  std::uint64_t records() const { return records_; }

 private:
  Ordinals ordinals_;
  std::vector<RollupEntry> entries_;
  Digest total_;
  std::uint64_t records_ = 0;
};

/// Ends a file: appends its index and the end segment, whose flags and count are the caller's, to `buffer`,
/// which begins at this offset of the file.
void append_end(std::vector<std::byte>& buffer, const Rollups& rollups, SegmentHeader end,
                std::uint64_t offset = 0);

}  // namespace detccl::trace
