// SPDX-License-Identifier: Apache-2.0
// Communicators, strings and chunk tables of a trace, and how they lie in their segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/record.h"

namespace detccl::trace {

struct Communicator {
  std::uint64_t key = 0;  ///< communicator_key(*this), the same on all its ranks and in another run
  std::uint32_t creation_order = 0;  ///< in its process, from 0
  std::uint32_t rank = 0;            ///< this process's rank in it
  std::uint32_t size = 0;
  std::string name;  ///< ncclConfig_t::commName, or what the application calls it; may be empty
  std::vector<std::uint32_t> members;  ///< job ranks in communicator order; empty if not known
};

/// From creation order, size, name and members: never from a pointer or a random id.
std::uint64_t communicator_key(const Communicator& communicator);

/// Digests of a payload's chunks: chunk i has the bytes from i x chunk_bytes on.
struct ChunkTable {
  std::uint64_t sequence = 0;  ///< Record::sequence
  std::uint64_t bytes = 0;     ///< of the payload
  std::uint64_t chunk_bytes = 0;
  bool is_output = false;
  std::vector<Digest> digests;  ///< ceil(bytes / chunk_bytes)
};

void append_communicator(std::vector<std::byte>& payload, const Communicator& communicator);
void append_string(std::vector<std::byte>& payload, std::string_view text);
void append_chunk_table(std::vector<std::byte>& payload, const ChunkTable& table);

/// None where the bytes are not exactly `count` whole entries.
std::optional<std::vector<Communicator>> decode_communicators(std::span<const std::byte> payload,
                                                              std::uint32_t count);
std::optional<std::vector<std::string>> decode_strings(std::span<const std::byte> payload,
                                                       std::uint32_t count);
std::optional<std::vector<ChunkTable>> decode_chunk_tables(std::span<const std::byte> payload,
                                                           std::uint32_t count);

}  // namespace detccl::trace
