// SPDX-License-Identifier: Apache-2.0
#include "group.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "contract/reference.h"

namespace detccl::device::cuda::peer {
namespace {

using plan::Collective;

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Streams that share a hardware queue wait for each other's kernels, and here for ever. Before the first
/// call.
const bool enough_queues = [] {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  return true;
}();

}  // namespace

Group::Group(std::uint32_t ranks, std::uint32_t blocks, std::uint32_t piece, std::uint64_t arena)
    : layout_{ranks, blocks, piece}, ranks_(ranks) {
  static_cast<void>(enough_queues);
  require(load_kernels());
  for (Rank& rank : ranks_) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, layout_.bytes()));
    rank.region = static_cast<std::byte*>(memory);
    require(cudaMemset(rank.region, 0, layout_.bytes()));
    require(cudaMalloc(&memory, arena));
    rank.memory = static_cast<std::byte*>(memory);
    require(cudaMemset(rank.memory, 0, arena));
    require(cudaHostAlloc(&memory, sizeof(HostWords), cudaHostAllocMapped | cudaHostAllocPortable));
    rank.words = new (memory) HostWords;
    for (cudaStream_t& stream : rank.streams)
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    require(cudaEventCreateWithFlags(&rank.last, cudaEventDisableTiming));
  }
  require(cudaDeviceSynchronize());
}

Group::~Group() {
  for (Rank& rank : ranks_)
    *reinterpret_cast<volatile std::uint32_t*>(&rank.words->abort) = 1;
  static_cast<void>(cudaDeviceSynchronize());
  for (Rank& rank : ranks_) {
    static_cast<void>(cudaFree(rank.region));
    static_cast<void>(cudaFree(rank.memory));
    static_cast<void>(cudaFreeHost(rank.words));
    for (cudaStream_t stream : rank.streams)
      static_cast<void>(cudaStreamDestroy(stream));
    static_cast<void>(cudaEventDestroy(rank.last));
  }
}

Endpoint Group::endpoint(std::uint32_t rank) const {
  Endpoint e;
  e.layout = layout_;
  e.rank = rank;
  for (std::uint32_t r = 0; r < layout_.ranks; ++r)
    e.regions[r] = ranks_[r].region;
  e.words = ranks_[rank].words;
  e.timeout = timeout_;
  return e;
}

Call Group::call_of(const GroupCall& c, std::uint32_t rank) {
  Call call;
  call.collective = c.collective;
  call.arithmetic = c.arithmetic;
  call.root = c.root;
  call.send = memory(rank) + c.send[rank];
  call.receive = receives(c, rank) ? memory(rank) + c.receive[rank] : nullptr;
  call.count = c.count;
  return call;
}

cudaError_t Group::enqueue(const GroupCall& c, std::uint32_t rank, std::uint32_t which) {
  Rank& r = ranks_[rank];
  if (which != r.last_stream) {
    require(cudaEventRecord(r.last, r.streams[r.last_stream]));
    require(cudaStreamWaitEvent(r.streams[which], r.last, 0));
    r.last_stream = which;
  }
  return reduce(endpoint(rank), call_of(c, rank), c.mode, r.streams[which]);
}

void Group::enqueue(const GroupCall& c) {
  for (std::uint32_t rank = 0; rank < ranks(); ++rank)
    require(enqueue(c, rank));
}

std::vector<Failure> Group::finish() {
  std::vector<Failure> failures;
  for (Rank& rank : ranks_) {
    for (const cudaStream_t stream : rank.streams)
      require(cudaStreamSynchronize(stream));
    failures.push_back(
        static_cast<Failure>(*reinterpret_cast<volatile std::uint32_t*>(&rank.words->failure)));
  }
  return failures;
}

bool receives(const GroupCall& c, std::uint32_t rank) {
  return c.collective != Collective::reduce || c.root == rank;
}

GroupCall random_call(host::Random& random, const Group& group, std::uint64_t from,
                      std::uint64_t most_bytes) {
  using host::below;
  const std::uint32_t ranks = group.ranks();
  static const std::vector<Arithmetic> arithmetic = all_arithmetic();
  GroupCall c;
  c.arithmetic = arithmetic[below(random, arithmetic.size())];
  c.arithmetic.ranks = ranks;
  c.arithmetic.scalar = host::random_element(random, c.arithmetic.type);
  constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                         Collective::reduce};
  c.collective = kCollectives[below(random, 3)];
  c.root = static_cast<std::uint32_t>(below(random, ranks));
  const std::uint64_t size = contract::size_of(c.arithmetic.type);
  const std::uint64_t shards = c.collective == Collective::reduce_scatter ? ranks : 1;
  // As likely small as large.
  std::uint64_t most = most_bytes / size / shards;
  most = std::max<std::uint64_t>(1, most >> below(random, 12));
  c.count = 1 + below(random, most);
  const std::uint64_t result = c.count * size, input = result * shards;
  c.send_bytes = input;
  c.receive_bytes = result;
  constexpr Mode kModes[] = {Mode::packets, Mode::shard_packets, Mode::one_shot, Mode::two_shot};
  do {
    c.mode = kModes[below(random, 4)];
    Call probe;
    probe.collective = c.collective;
    probe.arithmetic = c.arithmetic;
    probe.count = c.count;
    if (fits(probe, c.mode, group.layout())) break;
  } while (true);
  const bool aligned = below(random, 2) == 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const bool in_place = below(random, 3) == 0;
    const auto past = [&] { return aligned ? 0 : below(random, 32) * (below(random, 2) == 0 ? size : 1); };
    c.send.push_back(from + past());
    const std::uint64_t own = c.collective == Collective::reduce_scatter ? rank * result : 0;
    const std::uint64_t second = (from + 256 + input + 64 + 255) / 256 * 256;
    c.receive.push_back(in_place ? c.send.back() + own : second + past());
  }
  return c;
}

std::vector<std::byte> expected(const GroupCall& c, const std::vector<std::vector<std::byte>>& arenas,
                                std::uint32_t rank) {
  std::vector<const void*> inputs;
  const std::uint64_t own = c.collective == Collective::reduce_scatter ? rank * c.receive_bytes : 0;
  for (std::size_t r = 0; r < arenas.size(); ++r)
    inputs.push_back(arenas[r].data() + c.send[r] + own);
  std::vector<std::byte> result(c.receive_bytes);
  contract::reduce({c.arithmetic.order, c.arithmetic.accumulate, 0}, c.arithmetic.type, c.arithmetic.op,
                   inputs, result.data(), c.count, c.arithmetic.scalar);
  return result;
}

std::string describe(const GroupCall& c) {
  constexpr const char* kCollectives[] = {"all_reduce", "reduce_scatter", "reduce"};
  constexpr const char* kModes[] = {"packets", "packets by shards", "one shot", "two shot"};
  std::string text = std::string(kCollectives[static_cast<int>(c.collective)]) + " " +
                     std::string(name(c.arithmetic.type)) + " " + std::string(name(c.arithmetic.op)) + " " +
                     to_string(contract::Contract{c.arithmetic.order, c.arithmetic.accumulate, 0}) + ", " +
                     kModes[static_cast<int>(c.mode)] + ", count " + std::to_string(c.count) + ", root " +
                     std::to_string(c.root) + ", places:";
  for (std::size_t r = 0; r < c.send.size(); ++r)
    text += " " + std::to_string(c.send[r]) + "->" + std::to_string(c.receive[r]);
  return text;
}

std::uint64_t times(const char* variable, std::uint64_t usual) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace detccl::device::cuda::peer
