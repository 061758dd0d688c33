// SPDX-License-Identifier: Apache-2.0
#include "trace/tables.h"

#include <cstring>

#include "trace/hash.h"

namespace detccl::trace {
namespace {

template <class T>
void put(std::vector<std::byte>& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Takes values off the front; every length is checked against what is left before memory is taken.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  bool take(T& value) {
    if (left_.size() < sizeof value) return false;
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return true;
  }

  template <class T>
  bool take(std::vector<T>& values, std::uint64_t count) {
    if (count > left_.size() / sizeof(T)) return false;
    values.resize(count);
    if (count != 0) std::memcpy(values.data(), left_.data(), count * sizeof(T));
    left_ = left_.subspan(count * sizeof(T));
    return true;
  }

  bool take(std::string& text) {
    std::uint32_t size = 0;
    if (!take(size) || size > left_.size()) return false;
    text.assign(reinterpret_cast<const char*>(left_.data()), size);
    left_ = left_.subspan(size);
    return true;
  }

  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

bool take(Input& input, Communicator& c) {
  std::uint32_t members = 0;
  return input.take(c.key) && input.take(c.creation_order) && input.take(c.rank) && input.take(c.size) &&
         input.take(members) && input.take(c.members, members) && input.take(c.name);
}

bool take(Input& input, std::string& text) {
  return input.take(text);
}

bool take(Input& input, ChunkTable& table) {
  std::uint32_t output = 0, digests = 0;
  if (!input.take(table.sequence) || !input.take(table.bytes) || !input.take(table.chunk_bytes) ||
      !input.take(output) || !input.take(digests) || !input.take(table.digests, digests)) {
    return false;
  }
  table.is_output = output != 0;
  if (table.chunk_bytes == 0) return false;
  return digests == table.bytes / table.chunk_bytes + (table.bytes % table.chunk_bytes != 0 ? 1 : 0);
}

template <class T>
std::optional<std::vector<T>> decode(std::span<const std::byte> payload, std::uint32_t count) {
  Input input(payload);
  std::vector<T> values;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!take(input, values.emplace_back())) return std::nullopt;
  }
  if (!input.empty()) return std::nullopt;
  return values;
}

}  // namespace

std::uint64_t communicator_key(const Communicator& c) {
  Hash hash;
  hash.add(c.creation_order);
  hash.add(c.size);
  hash.add(c.name.size());
  for (const char character : c.name) {
    hash.add(static_cast<unsigned char>(character));
  }
  for (const std::uint32_t member : c.members) {
    hash.add(member);
  }
  return hash.value().low;
}

void append_communicator(std::vector<std::byte>& payload, const Communicator& c) {
  put(payload, c.key);
  put(payload, c.creation_order);
  put(payload, c.rank);
  put(payload, c.size);
  put(payload, static_cast<std::uint32_t>(c.members.size()));
  const auto members = std::as_bytes(std::span(c.members));
  payload.insert(payload.end(), members.begin(), members.end());
  put_text(payload, c.name);
}

void append_string(std::vector<std::byte>& payload, std::string_view text) {
  put_text(payload, text);
}

void append_chunk_table(std::vector<std::byte>& payload, const ChunkTable& table) {
  put(payload, table.sequence);
  put(payload, table.bytes);
  put(payload, table.chunk_bytes);
  put(payload, std::uint32_t{table.is_output ? 1U : 0U});
  put(payload, static_cast<std::uint32_t>(table.digests.size()));
  const auto digests = std::as_bytes(std::span(table.digests));
  payload.insert(payload.end(), digests.begin(), digests.end());
}

std::optional<std::vector<Communicator>> decode_communicators(std::span<const std::byte> payload,
                                                              std::uint32_t count) {
  return decode<Communicator>(payload, count);
}

std::optional<std::vector<std::string>> decode_strings(std::span<const std::byte> payload,
                                                       std::uint32_t count) {
  return decode<std::string>(payload, count);
}

std::optional<std::vector<ChunkTable>> decode_chunk_tables(std::span<const std::byte> payload,
                                                           std::uint32_t count) {
  return decode<ChunkTable>(payload, count);
}

}  // namespace detccl::trace
