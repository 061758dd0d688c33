// SPDX-License-Identifier: Apache-2.0
// What a trace holds of one operation on one rank: a fixed-size record, as it lies in the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace detccl::trace {

enum class Kind : std::uint8_t {
  all_reduce = 0,
  reduce_scatter = 1,
  reduce = 2,
  all_gather = 3,
  broadcast = 4,
  all_to_all = 5,
  gather = 6,
  scatter = 7,
  send = 8,
  recv = 9,
};
inline constexpr int kKinds = 10;

/// "all_reduce" … "recv"; "kind_77" for a number that is none.
std::string kind_name(std::uint8_t kind);
/// The reverse; kKinds if there is none of that name.
int parse_kind(std::string_view name);

constexpr bool is_p2p(std::uint8_t kind) {
  return kind == static_cast<std::uint8_t>(Kind::send) || kind == static_cast<std::uint8_t>(Kind::recv);
}

inline constexpr std::uint8_t kNone = 255;            ///< no data type, no op
inline constexpr std::uint32_t kNoPeer = 0xffffffff;  ///< neither a root nor a peer
inline constexpr std::uint32_t kNoStep = 0xffffffff;  ///< before the first step of this process
inline constexpr std::uint32_t kNoDuration = 0xffffffff;

inline constexpr std::uint8_t kInPlace = 1;    ///< input and output share memory
inline constexpr std::uint8_t kOurs = 2;       ///< DetCCL's own schedule; else the native NCCL
inline constexpr std::uint8_t kGraph = 4;      ///< replayed from a CUDA graph
inline constexpr std::uint8_t kGroup = 8;      ///< inside ncclGroupStart … ncclGroupEnd
inline constexpr std::uint8_t kNoInput = 16;   ///< this rank gives no data: no input digest
inline constexpr std::uint8_t kNoOutput = 32;  ///< this rank gets no data: no output digest

struct Digest {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// 32 hexadecimal digits, high half first.
std::string to_hex(const Digest& digest);

struct Record {
  std::uint64_t sequence = 0;  ///< in the order in which this process ran its operations, from 0
  /// Collectives: on this communicator, from 0. send, recv: of this direction with this peer on this
  /// communicator, from 0, so that a recv has the number of its send.
  std::uint64_t communicator_sequence = 0;
  std::uint64_t communicator = 0;           ///< Communicator::key
  std::uint64_t count = 0;                  ///< elements, as the call's count
  Digest input, output;                     ///< of all bytes that the rank gave and got
  std::uint64_t start_ns = 0;               ///< since RunInfo::start_ns; 0 if not measured
  std::uint32_t duration_ns = kNoDuration;  ///< saturates just below kNoDuration
  std::uint32_t step = kNoStep;
  std::uint32_t phase = 0;       ///< string number; 0 is the empty string
  std::uint32_t peer = kNoPeer;  ///< root or peer: its rank in the communicator
  std::uint32_t stream = 0;      ///< CUDA streams, numbered as they were first seen
  Kind kind = Kind::all_reduce;
  std::uint8_t type = kNone;  ///< ncclDataType_t
  std::uint8_t op = kNone;    ///< ncclRedOp_t; 5 for any user-defined PreMulSum
  std::uint8_t flags = 0;
};
static_assert(sizeof(Record) == 96 && std::is_trivially_copyable_v<Record>);

/// ncclDataType_t -> "float32", "none", "type_77".
std::string type_name(std::uint8_t type);
/// ncclRedOp_t -> "sum", "none", "op_77".
std::string op_name(std::uint8_t op);

}  // namespace detccl::trace
