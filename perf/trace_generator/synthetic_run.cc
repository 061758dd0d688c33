// SPDX-License-Identifier: Apache-2.0
#include "trace_generator/synthetic_run.h"

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "trace/hash.h"
#include "trace/writer.h"

namespace detccl::perf {
namespace {

using trace::Communicator;
using trace::Digest;
using trace::Kind;
using trace::Record;

constexpr std::uint8_t kSum = 0, kFloat32 = 7, kBfloat16 = 9;

enum Place : std::uint32_t { kWorld = 0, kGroup = 1, kAcross = 2 };

struct Call {
  Kind kind;
  Place communicator;
  std::uint8_t type;
  bool has_root;
};

// One turn; a step repeats it.
constexpr std::array<Call, 10> kCalls = {{
    {Kind::all_gather, kAcross, kBfloat16, false},
    {Kind::all_reduce, kGroup, kBfloat16, false},
    {Kind::send, kWorld, kBfloat16, false},
    {Kind::recv, kWorld, kBfloat16, false},
    {Kind::all_to_all, kGroup, kBfloat16, false},
    {Kind::reduce_scatter, kAcross, kFloat32, false},
    {Kind::all_reduce, kWorld, kFloat32, false},
    {Kind::broadcast, kGroup, kFloat32, true},
    {Kind::reduce, kWorld, kFloat32, true},
    {Kind::all_reduce, kAcross, kFloat32, false},
}};

bool reduces(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce_scatter || kind == Kind::reduce;
}

std::uint64_t word(std::initializer_list<std::uint64_t> words) {
  trace::Hash hash;
  for (const std::uint64_t w : words) {
    hash.add(w);
  }
  return hash.value().low;
}

}  // namespace

std::vector<Communicator> communicators_of(const Shape& shape, std::uint32_t rank) {
  std::vector<Communicator> all(3);
  all[kWorld].name = "world";
  all[kGroup].name = "tensor_parallel";
  all[kAcross].name = "data_parallel";
  all[kWorld].rank = rank;
  all[kGroup].rank = rank % shape.group;
  all[kAcross].rank = rank / shape.group;
  for (std::uint32_t r = 0; r < shape.ranks; ++r) {
    all[kWorld].members.push_back(r);
    if (r / shape.group == rank / shape.group) all[kGroup].members.push_back(r);
    if (r % shape.group == rank % shape.group) all[kAcross].members.push_back(r);
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    all[i].creation_order = i;
    all[i].size = static_cast<std::uint32_t>(all[i].members.size());
    all[i].key = trace::communicator_key(all[i]);
  }
  return all;
}

std::vector<Record> operations_of(const Shape& shape, std::uint32_t rank) {
  const std::vector<Communicator> communicators = communicators_of(shape, rank);
  std::map<std::pair<std::uint32_t, int>, std::uint64_t> sequences;  // by communicator and direction
  std::vector<Record> records;
  for (std::uint32_t step = shape.first_step; step < shape.steps; ++step) {
    for (std::uint32_t i = 0; i < shape.operations; ++i) {
      const Call& call = kCalls[i % kCalls.size()];
      const Communicator& communicator = communicators[call.communicator];
      Record r;
      r.kind = call.kind;
      r.sequence = records.size();
      r.communicator = communicator.key;
      const bool p2p = trace::is_p2p(static_cast<std::uint8_t>(r.kind));
      r.communicator_sequence = sequences[{call.communicator, p2p ? static_cast<int>(r.kind) : -1}]++;
      r.type = call.type;
      r.op = reduces(r.kind) ? kSum : trace::kNone;
      r.count = std::uint64_t{1024} * (1 + i);
      r.step = step;
      r.phase = 1 + i * 3 / shape.operations;
      r.stream = call.communicator;
      r.start_ns = (std::uint64_t{step} * shape.operations + i) * 50000;
      r.duration_ns = 20000 + 1000 * i;
      if (call.has_root) r.peer = step % communicator.size;
      if (r.kind == Kind::send) r.peer = (rank + 1) % shape.ranks;
      if (r.kind == Kind::recv) r.peer = (rank + shape.ranks - 1) % shape.ranks;
      const bool at_root = communicator.rank == r.peer;
      if (r.kind == Kind::recv || (r.kind == Kind::broadcast && !at_root)) r.flags |= trace::kNoInput;
      if (r.kind == Kind::send || (r.kind == Kind::reduce && !at_root)) r.flags |= trace::kNoOutput;
      if (reduces(r.kind)) r.flags |= trace::kOurs;
      records.push_back(r);
    }
  }
  return records;
}

trace::RunInfo run_info_of(const Shape& shape, std::uint32_t rank) {
  trace::RunInfo info;
  info.rank = rank;
  info.world_size = shape.ranks;
  info.host = "node-" + std::to_string(rank / 8);
  info.version = DETCCL_VERSION;
  info.contract = "tree";
  info.environment["NCCL_ALGO"] = "Ring";
  return info;
}

void fill_digests(std::vector<Record>& records, std::uint32_t rank, std::uint64_t seed) {
  for (Record& r : records) {
    const std::uint64_t shared = word({seed, r.communicator, r.sequence});
    const std::uint64_t own = word({shared, rank});
    if ((r.flags & trace::kNoInput) == 0) r.input = {own, word({own, 1})};
    if ((r.flags & trace::kNoOutput) == 0) r.output = {word({shared, 2}), word({own, 3})};
  }
}

std::string write_rank(const std::string& folder, const Shape& shape, std::uint32_t rank,
                       const std::vector<Record>& records) {
  trace::Writer writer({folder}, run_info_of(shape, rank));
  for (const char* phase : kPhases) {
    writer.string_number(phase);
  }
  for (const Communicator& communicator : communicators_of(shape, rank)) {
    writer.add_communicator(communicator);
  }
  writer.append(records);
  writer.close();
  if (writer.error() != 0) throw std::runtime_error(writer.path() + ": " + std::strerror(writer.error()));
  return writer.path();
}

}  // namespace detccl::perf
