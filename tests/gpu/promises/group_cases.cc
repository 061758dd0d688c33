// SPDX-License-Identifier: Apache-2.0
// Several operations in one group, on one and on two streams, reductions and others mixed.
#include "cases.h"

namespace promises {
namespace {

constexpr std::size_t kShard = 5003;

/// Inputs and outputs of one operation of each kind.
struct Operands {
  Operands(Job& job, std::uint64_t seed)
      : all{DataType::float32, Op::sum, seed},
        scattered{DataType::bfloat16, Op::avg, seed + 1},
        rooted{DataType::float16, Op::prod, seed + 2},
        count(kShard * static_cast<std::size_t>(job.ranks())),
        all_in(job, all, count),
        all_out(job, all, count, 1),
        scattered_in(job, scattered, count, 1),
        scattered_out(job, scattered, kShard),
        rooted_in(job, rooted, count),
        rooted_out(job, rooted, count) {}

  void put(Job& job, int second_stream) {
    all_in.put(input(all, job.rank(), 0, count), 0);
    scattered_in.put(input(scattered, job.rank(), 0, count), second_stream);
    rooted_in.put(input(rooted, job.rank(), 0, count), 0);
  }

  void reduce(Job& job, int second_stream) {
    const cudaStream_t first = job.device().stream(0), second = job.device().stream(second_stream);
    require(ncclAllReduce(all_in.data(), all_out.data(), count, nccl(all.type), ncclSum, job.comm(), first),
            "ncclAllReduce");
    require(ncclReduceScatter(scattered_in.data(), scattered_out.data(), kShard, nccl(scattered.type),
                              ncclAvg, job.comm(), second),
            "ncclReduceScatter");
    require(ncclReduce(rooted_in.data(), rooted_out.data(), count, nccl(rooted.type), ncclProd, 0, job.comm(),
                       first),
            "ncclReduce");
  }

  void compare(Job& job, Result& result, const std::string& what) {
    const std::size_t own = kShard * static_cast<std::size_t>(job.rank());
    job.compare(result, all, all_out.get(), expected(job.contract(), all, job.ranks(), 0, count),
                "all_reduce " + what);
    job.compare(result, scattered, scattered_out.get(),
                expected(job.contract(), scattered, job.ranks(), own, kShard), "reduce_scatter " + what);
    if (job.rank() == 0)
      job.compare(result, rooted, rooted_out.get(), expected(job.contract(), rooted, job.ranks(), 0, count),
                  "reduce " + what);
  }

  Reduction all, scattered, rooted;
  std::size_t count;
  Vector all_in, all_out, scattered_in, scattered_out, rooted_in, rooted_out;
};

void reductions(Job& job, Result& result, int second_stream) {
  Operands first(job, 5000), second(job, 5010);
  first.put(job, second_stream);
  second.put(job, second_stream);
  require(ncclGroupStart(), "ncclGroupStart");
  first.reduce(job, second_stream);
  require(ncclGroupStart(), "ncclGroupStart");  // groups nest
  second.reduce(job, second_stream);
  require(ncclGroupEnd(), "ncclGroupEnd");
  require(ncclGroupEnd(), "ncclGroupEnd");
  first.compare(job, result, "in a group");
  second.compare(job, result, "in a group within a group");
}

/// Reductions with send/recv around the ring and an AllGather.
void mixed(Job& job, Result& result) {
  const int n = job.ranks();
  const int next = (job.rank() + 1) % n, previous = (job.rank() + n - 1) % n;
  const Reduction moved{DataType::float32, Op::sum, 5030};
  Operands operands(job, 5020);
  Vector sent(job, moved, kShard), received(job, moved, kShard), gathered(job, moved, operands.count);
  operands.put(job, 0);
  sent.put(input(moved, job.rank(), 0, kShard));
  const cudaStream_t stream = job.device().stream(0);
  require(ncclGroupStart(), "ncclGroupStart");
  require(ncclSend(sent.data(), kShard, ncclFloat32, next, job.comm(), stream), "ncclSend");
  operands.reduce(job, 0);
  require(ncclRecv(received.data(), kShard, ncclFloat32, previous, job.comm(), stream), "ncclRecv");
  require(ncclAllGather(sent.data(), gathered.data(), kShard, ncclFloat32, job.comm(), stream),
          "ncclAllGather");
  require(ncclGroupEnd(), "ncclGroupEnd");
  operands.compare(job, result, "in a mixed group");
  result.expect(received.get() == input(moved, previous, 0, kShard), "what was received");
  for (int peer = 0; peer < n; ++peer)
    result.expect(
        gathered.get(kShard * static_cast<std::size_t>(peer), kShard) == input(moved, peer, 0, kShard),
        "what was gathered");
}

/// Many small ones, as a framework's coalescing does.
void coalesced(Job& job, Result& result) {
  const Reduction r{DataType::bfloat16, Op::avg, 5040};
  constexpr std::size_t kMany = 40, kEach = 517;
  const auto ranks = static_cast<std::size_t>(job.ranks());
  Vector in(job, r, kMany * kEach * ranks, 1), out(job, r, kMany * kEach, 1);
  in.put(input(r, job.rank(), 0, kMany * kEach * ranks));
  require(ncclGroupStart(), "ncclGroupStart");
  for (std::size_t i = 0; i < kMany; ++i)
    require(ncclReduceScatter(in.at(i * kEach * ranks), out.at(i * kEach), kEach, nccl(r.type), ncclAvg,
                              job.comm(), job.device().stream(0)),
            "ncclReduceScatter");
  require(ncclGroupEnd(), "ncclGroupEnd");
  const std::size_t own = kEach * static_cast<std::size_t>(job.rank());
  for (std::size_t i = 0; i < kMany; ++i)
    job.compare(result, r, out.get(i * kEach, kEach),
                expected(job.contract(), r, job.ranks(), i * kEach * ranks + own, kEach),
                "reduce_scatter " + std::to_string(i) + " of a group");
}

}  // namespace

void add_group_cases(Cases& cases) {
  cases.push_back({"group.reductions", [](Job& job, Result& result) { reductions(job, result, 0); }});
  cases.push_back({"group.two_streams", [](Job& job, Result& result) { reductions(job, result, 1); }});
  cases.push_back({"group.mixed", mixed});
  cases.push_back({"group.coalesced", coalesced});
}

}  // namespace promises
