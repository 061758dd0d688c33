// SPDX-License-Identifier: Apache-2.0
// The control plane's messages: between a rank and the root of its communicator (root.h), over TCP.
// A frame is kFrameMark, type, length (little endian, as the machine writes them) and the body.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hostnccl/error.h"

namespace detccl::hostnccl {

enum class MessageType : std::uint32_t {
  hello = 1,  ///< rank -> root: id magic, size, rank, blob; answered by `table`
  table,      ///< root -> rank: ticket of the request (0: hello's), the blobs of its members
  gather,     ///< rank -> root: ticket, members, blob; answered by `table` when all members have sent theirs
  refused,    ///< root -> rank: ticket, text: this gather will never be complete
  report,     ///< rank -> root: this rank has failed or aborted: text
  failed,     ///< root -> rank: the communicator has failed: text
  goodbye,    ///< rank -> root: this rank has destroyed its communicator
  all_left,   ///< root -> rank: so has every other one
  root_left,  ///< root -> rank: the root's process ends in good order; nobody watches from here on
  dismiss,    ///< anyone -> root: this id will not be used
};

struct Message {
  MessageType type = MessageType::hello;
  std::string body;
};

inline constexpr std::uint32_t kFrameMark = 0x314e4348;  // "HCN1"
inline constexpr std::uint64_t kLargestFrame = 256u << 20;
inline constexpr std::uint64_t kLargestHello = 1u << 20;

struct FrameHeader {
  std::uint32_t mark = kFrameMark;
  MessageType type = MessageType::hello;
  std::uint64_t length = 0;
};

/// Appends values to a message's body.
class Writer {
 public:
  template <typename T>
  requires(std::is_trivially_copyable_v<T> &&
           !std::is_convertible_v<T, std::string_view>) Writer& put(const T& value) {
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& put(std::string_view bytes) {
    put(static_cast<std::uint64_t>(bytes.size()));
    body_.append(bytes);
    return *this;
  }
  std::string take() { return std::move(body_); }

 private:
  std::string body_;
};

/// Reads them back, in the same order. Throws Error(ncclSystemError) where the body is too short.
class Reader {
 public:
  explicit Reader(std::string_view body) : rest_(body) {}

  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string bytes() { return std::string(take(get<std::uint64_t>())); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw Error(ncclSystemError, "a message of the control plane is cut short");
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::string_view rest_;
};

}  // namespace detccl::hostnccl
