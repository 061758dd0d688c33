// SPDX-License-Identifier: Apache-2.0
// Operations of one communicator on two streams, which the host does not order: they run in the order of the
// calls, ours and native ones alike.
#include <vector>

#include "cases.h"

namespace promises {
namespace {

/// Each round sums (ours), gathers the sum's shards (native) and takes the maximum of what was gathered,
/// which is the sum again; on streams that change with every round. Only the order of the calls makes it come
/// out.
void alternating(Job& job, Result& result) {
  constexpr std::size_t kRounds = 24, kShard = 3000;
  const auto ranks = static_cast<std::size_t>(job.ranks());
  const std::size_t count = kShard * ranks;
  const Reduction r{DataType::float32, Op::sum, 6000};
  Vector in(job, r, kRounds * count), sum(job, r, count), gathered(job, r, count),
      out(job, r, kRounds * kShard);
  in.put(input(r, job.rank(), 0, kRounds * count));
  job.device().wait();
  const std::size_t own = kShard * static_cast<std::size_t>(job.rank());
  for (std::size_t i = 0; i < kRounds; ++i) {
    const cudaStream_t one = job.device().stream(static_cast<int>(i % 2));
    const cudaStream_t other = job.device().stream(static_cast<int>(1 - i % 2));
    require(ncclAllReduce(in.at(i * count), sum.data(), count, ncclFloat32, ncclSum, job.comm(), one),
            "ncclAllReduce");
    require(ncclAllGather(sum.at(own), gathered.data(), kShard, ncclFloat32, job.comm(), other),
            "ncclAllGather");
    require(ncclReduceScatter(gathered.data(), out.at(i * kShard), kShard, ncclFloat32, ncclMax, job.comm(),
                              i % 3 == 0 ? one : other),
            "ncclReduceScatter");
  }
  for (std::size_t i = 0; i < kRounds; ++i)
    job.compare(result, r, out.get(i * kShard, kShard),
                expected(job.contract(), r, job.ranks(), i * count + own, kShard),
                "round " + std::to_string(i));
}

/// Two communicators, each on its own stream, whose reductions are under way at the same time.
void two_communicators(Job& job, Result& result) {
  constexpr std::size_t kRounds = 10, kCount = 60000;
  const Reduction r{DataType::bfloat16, Op::sum, 6100}, s{DataType::float32, Op::sum, 6101};
  const ncclComm_t other = job.new_communicator();
  Vector a(job, r, kRounds * kCount), a_out(job, r, kRounds * kCount);
  Vector b(job, s, kRounds * kCount), b_out(job, s, kRounds * kCount);
  a.put(input(r, job.rank(), 0, kRounds * kCount));
  b.put(input(s, job.rank(), 0, kRounds * kCount));
  job.device().wait();
  for (std::size_t i = 0; i < kRounds; ++i) {
    require(ncclAllReduce(a.at(i * kCount), a_out.at(i * kCount), kCount, nccl(r.type), ncclSum, job.comm(),
                          job.device().stream(0)),
            "ncclAllReduce");
    require(ncclAllReduce(b.at(i * kCount), b_out.at(i * kCount), kCount, nccl(s.type), ncclSum, other,
                          job.device().stream(1)),
            "ncclAllReduce");
  }
  job.compare(result, r, a_out.get(), expected(job.contract(), r, job.ranks(), 0, kRounds * kCount),
              "one communicator");
  job.compare(result, s, b_out.get(), expected(job.contract(), s, job.ranks(), 0, kRounds * kCount),
              "the other communicator");
  require(ncclCommDestroy(other), "ncclCommDestroy");
}

}  // namespace

void add_stream_cases(Cases& cases) {
  cases.push_back({"streams.order", alternating});
  cases.push_back({"streams.two_communicators", two_communicators});
}

}  // namespace promises
