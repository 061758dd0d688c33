// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/collectives.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "contract/element.h"
#include "hostnccl/movement_programs.h"

namespace detccl::hostnccl {
namespace {

using contract::DataType;
using contract::Op;

struct Call {
  const Operation& operation;
  const Ring& ring;
  std::uint32_t rank;

  std::uint32_t size() const { return static_cast<std::uint32_t>(ring.size()); }
  std::uint64_t bytes() const { return operation.count * contract::size_of(operation.type); }
};

const std::byte* shifted(const void* pointer, std::uint64_t bytes) {
  return pointer == nullptr ? nullptr : static_cast<const std::byte*>(pointer) + bytes;
}

std::byte* shifted(void* pointer, std::uint64_t bytes) {
  return pointer == nullptr ? nullptr : static_cast<std::byte*>(pointer) + bytes;
}

using SharedProgram = std::shared_ptr<const plan::Program>;

/// The jobs of a message that goes in slices of `total` elements each rank passes on. program(begin, count)
/// makes the one for the slice that starts at element `begin`.
template <typename MakeProgram>
std::vector<engine::Job> sliced(const Call& call, std::uint64_t total, std::size_t element_size,
                                MakeProgram program) {
  const std::uint64_t slice = kSliceBytes / element_size;
  std::vector<engine::Job> jobs;
  for (std::uint64_t begin = 0; begin < total; begin += slice) {
    jobs.push_back({program(begin, std::min(slice, total - begin)),
                    shifted(call.operation.send, begin * element_size),
                    shifted(call.operation.receive, begin * element_size)});
  }
  return jobs;
}

/// For programs that depend on the slice's length only: slices of one length share one.
template <typename MakeProgram>
auto by_length(const MakeProgram& program) {
  return [&program, last = SharedProgram(), length = std::uint64_t{0}](std::uint64_t,
                                                                       std::uint64_t count) mutable {
    if (last == nullptr || length != count) last = std::make_shared<const plan::Program>(program(count));
    length = count;
    return last;
  };
}

/// The message is cut into one chunk per ring position, so where an element is in the message decides where
/// its sum begins.
std::vector<engine::Job> all_reduce_jobs(const Call& call) {
  const std::uint64_t total = call.operation.count;
  const std::uint64_t chunk = (total + call.size() - 1) / call.size();
  std::vector<std::uint64_t> starts(call.size()), lengths(call.size()), counts(call.size()), shared_counts;
  for (std::uint64_t c = 0; c < call.size(); ++c) {
    starts[c] = c * chunk;
    lengths[c] = total > starts[c] ? std::min(chunk, total - starts[c]) : 0;
  }
  SharedProgram shared;
  // A slice is the same part of every chunk; the last chunks may end before it or within it.
  const auto program = [&](std::uint64_t begin, std::uint64_t count) {
    for (std::size_t c = 0; c < counts.size(); ++c) {
      counts[c] = lengths[c] > begin ? std::min(count, lengths[c] - begin) : 0;
    }
    if (shared == nullptr || counts != shared_counts) {
      shared = std::make_shared<const plan::Program>(ring_all_reduce(call.ring, call.rank, starts, counts));
      shared_counts = counts;
    }
    return shared;
  };
  return sliced(call, chunk, contract::size_of(call.operation.type), program);
}

std::vector<engine::Job> reduce_scatter_jobs(const Call& call) {
  const auto program = [&](std::uint64_t count) {
    return ring_reduce_scatter(call.ring, call.rank, call.operation.count, count);
  };
  return sliced(call, call.operation.count, contract::size_of(call.operation.type), by_length(program));
}

std::vector<engine::Job> reduce_jobs(const Call& call) {
  const auto program = [&](std::uint64_t count) {
    return ring_reduce(call.ring, call.rank, call.operation.root, count);
  };
  return sliced(call, call.operation.count, contract::size_of(call.operation.type), by_length(program));
}

std::vector<engine::Job> broadcast_jobs(const Call& call) {
  const bool in_place = call.operation.send == call.operation.receive;
  const auto program = [&](std::uint64_t count) {
    return ring_broadcast(call.ring, call.rank, call.operation.root, count, in_place);
  };
  return sliced(call, call.bytes(), 1, by_length(program));
}

std::vector<engine::Job> direct_jobs(const Call& call) {
  const Operation& o = call.operation;
  Blocks blocks{call.size(), call.rank, call.bytes(), false};
  plan::Program program;
  if (o.kind == Kind::all_gather) {
    blocks.in_place = o.send == shifted(o.receive, call.rank * blocks.count);
    program = direct_all_gather(blocks);
  } else if (o.kind == Kind::all_to_all) {
    blocks.in_place = o.send == o.receive;
    program = direct_all_to_all(blocks);
  } else if (o.kind == Kind::gather) {
    blocks.in_place = o.send == shifted(o.receive, call.rank * blocks.count);
    program = direct_gather(blocks, o.root);
  } else {
    blocks.in_place = o.receive == shifted(o.send, call.rank * blocks.count);
    program = direct_scatter(blocks, o.root);
  }
  return {
      {std::make_shared<const plan::Program>(std::move(program)), shifted(o.send, 0), shifted(o.receive, 0)}};
}

/// 1/n, rounded to the type.
std::uint64_t reciprocal(DataType type, std::uint32_t n) {
  return contract::visit_element(type, contract::Accumulate::wide, [n]<class Element>(Element) {
    return std::uint64_t{Element::average(typename Element::Value{1}, n)};
  });
}

/// How values combine. An average of floating-point values is a sum of values multiplied by 1/n beforehand;
/// one of integers is divided at the end.
device::host::Arithmetic arithmetic_of(const Call& call) {
  const Operation& o = call.operation;
  device::host::Arithmetic arithmetic{
      o.type, o.op, contract::Order::linear, contract::Accumulate::native, call.size(), o.scalar};
  if (o.deferred_scalar != nullptr) {
    std::memcpy(&arithmetic.scalar, o.deferred_scalar, contract::size_of(o.type));
  }
  if (o.op == Op::avg && !contract::is_integer(o.type)) {
    arithmetic.op = Op::premulsum;
    arithmetic.scalar = reciprocal(o.type, call.size());
  }
  return arithmetic;
}

constexpr device::host::Arithmetic kCopyBytes{
    DataType::uint8, Op::sum, contract::Order::linear, contract::Accumulate::native, 1, 0};

}  // namespace

Work work_of(const Operation& operation, const Ring& ring, std::uint32_t rank) {
  const Call call{operation, ring, rank};
  switch (operation.kind) {
    case Kind::all_reduce:
      return {arithmetic_of(call), all_reduce_jobs(call)};
    case Kind::reduce_scatter:
      return {arithmetic_of(call), reduce_scatter_jobs(call)};
    case Kind::reduce:
      return {arithmetic_of(call), reduce_jobs(call)};
    case Kind::broadcast:
      return {kCopyBytes, broadcast_jobs(call)};
    default:
      return {kCopyBytes, direct_jobs(call)};
  }
}

}  // namespace detccl::hostnccl
