// SPDX-License-Identifier: Apache-2.0
// Communicators made in every way that NCCL knows; each must reduce as the contract says, in its own rank
// order.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "cases.h"

namespace promises {
namespace {

using Ranks = std::vector<int>;

constexpr std::size_t kCount = 10001;

Ranks everyone(const Job& job) {
  Ranks all(static_cast<std::size_t>(job.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// ncclSuccess, or ncclInProgress of a nonblocking communicator.
void accept(ncclResult_t result, const char* call) {
  if (result != ncclInProgress) require(result, call);
}

/// A reduction over `members`, ranks of the job in the communicator's order.
void reduces(Job& job, Result& result, ncclComm_t comm, const Ranks& members, const std::string& what) {
  const Reduction r{DataType::float32, Op::sum, 8000};
  Vector in(job, r, kCount), out(job, r, kCount);
  in.put(input(r, job.rank(), 0, kCount));
  accept(ncclAllReduce(in.data(), out.data(), kCount, ncclFloat32, ncclSum, comm, job.device().stream(0)),
         "ncclAllReduce");
  require(settle(comm), "the reduction");
  job.compare(result, r, out.get(), expected(job.contract(), r, members, 0, kCount), what);
}

/// By parity, each half in reverse order; the last rank in none.
void split(Job& job, Result& result) {
  const int n = job.ranks(), last = n - 1;
  const int color = job.rank() == last ? NCCL_SPLIT_NOCOLOR : job.rank() % 2;
  ncclComm_t half = nullptr;
  require(ncclCommSplit(job.comm(), color, -job.rank(), &half, nullptr), "ncclCommSplit");
  result.expect((half == nullptr) == (job.rank() == last), "who got a communicator");
  Ranks members;
  for (int rank = last - 1; rank >= 0; --rank)
    if (rank % 2 == color) members.push_back(rank);
  if (half != nullptr) {
    reduces(job, result, half, members, "half");
    require(ncclCommDestroy(half), "ncclCommDestroy");
  }
  reduces(job, result, job.comm(), everyone(job), "parent");
}

void shrink(Job& job, Result& result) {
  const auto function = reinterpret_cast<decltype(&ncclCommShrink)>(dlsym(RTLD_DEFAULT, "ncclCommShrink"));
  if (function == nullptr || job.ranks() < 2) {
    result.skipped = function == nullptr ? "this NCCL has no ncclCommShrink" : "needs two ranks";
    return;
  }
  const ncclComm_t parent = job.new_communicator();
  int excluded = 0;
  if (job.rank() != excluded) {
    ncclComm_t fewer = nullptr;
    require(function(parent, &excluded, 1, &fewer, nullptr, NCCL_SHRINK_DEFAULT), "ncclCommShrink");
    Ranks members = everyone(job);
    members.erase(members.begin());
    reduces(job, result, fewer, members, "shrunk");
    require(ncclCommDestroy(fewer), "ncclCommDestroy");
  }
  job.barrier();
  require(ncclCommDestroy(parent), "ncclCommDestroy");
}

void nonblocking(Job& job, Result& result) {
  const ncclComm_t comm = job.new_communicator(0);
  reduces(job, result, comm, everyone(job), "nonblocking");
  ncclComm_t child = nullptr;
  accept(ncclCommSplit(comm, 0, job.rank(), &child, nullptr), "ncclCommSplit");
  require(settle(comm), "the split");
  require(child != nullptr, "the child is there");
  require(settle(child), "the child");
  reduces(job, result, child, everyone(job), "split off a nonblocking one");
  for (const ncclComm_t c : {child, comm}) {
    job.device().wait();
    accept(ncclCommFinalize(c), "ncclCommFinalize");
    require(settle(c), "ncclCommFinalize");
    accept(ncclCommDestroy(c), "ncclCommDestroy");
  }
}

void made_in_a_group(Job& job, Result& result) {
  ncclComm_t comm = nullptr;
  const ncclUniqueId id = job.unique_id();
  require(ncclGroupStart(), "ncclGroupStart");
  require(ncclCommInitRank(&comm, job.ranks(), id, job.rank()), "ncclCommInitRank");
  require(ncclGroupEnd(), "ncclGroupEnd");
  reduces(job, result, comm, everyone(job), "made in a group");
  require(ncclCommDestroy(comm), "ncclCommDestroy");
}

/// Two communicators in one group, in another order than they were made.
void two_in_a_group(Job& job, Result& result) {
  const Reduction r{DataType::float32, Op::sum, 8100};
  const ncclComm_t other = job.new_communicator();
  Vector in(job, r, kCount), a(job, r, kCount), b(job, r, kCount);
  in.put(input(r, job.rank(), 0, kCount));
  const cudaStream_t stream = job.device().stream(0);
  require(ncclGroupStart(), "ncclGroupStart");
  require(ncclAllReduce(in.data(), a.data(), kCount, ncclFloat32, ncclSum, other, stream), "ncclAllReduce");
  require(ncclAllReduce(in.data(), b.data(), kCount, ncclFloat32, ncclSum, job.comm(), stream),
          "ncclAllReduce");
  require(ncclGroupEnd(), "ncclGroupEnd");
  const Bytes wanted = expected(job.contract(), r, job.ranks(), 0, kCount);
  job.compare(result, r, a.get(), wanted, "one");
  job.compare(result, r, b.get(), wanted, "the other");
  require(ncclCommDestroy(other), "ncclCommDestroy");
}

/// One thread as all ranks of a communicator: of two on one GPU, where NCCL allows it; on the host of three.
void all_in_one_thread(Job& job, Result& result) {
  const bool gpu = job.device().is_gpu();
  if (gpu && std::getenv("NCCL_MULTI_RANK_GPU_ENABLE") == nullptr) {
    result.skipped = "needs several GPUs, or NCCL_MULTI_RANK_GPU_ENABLE";
    return;
  }
  const int n = gpu ? 2 : 3;
  const Reduction r{DataType::float32, Op::prod, 8200};
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(n));
  const std::vector<int> devices(static_cast<std::size_t>(n));  // the first, for each
  const ncclResult_t made = ncclCommInitAll(comms.data(), n, gpu ? devices.data() : nullptr);
  if (gpu && made != ncclSuccess) {
    result.skipped = std::string("ncclCommInitAll on one GPU: ") + ncclGetErrorString(made);
    return;
  }
  require(made, "ncclCommInitAll");
  std::vector<Vector> vectors;
  for (int rank = 0; rank < n; ++rank) {
    vectors.emplace_back(job, r, kCount);
    vectors.back().put(input(r, rank, 0, kCount));
  }
  job.device().wait();
  require(ncclGroupStart(), "ncclGroupStart");
  for (std::size_t i = 0; i < comms.size(); ++i)
    require(ncclAllReduce(vectors[i].data(), vectors[i].data(), kCount, ncclFloat32, ncclProd, comms[i],
                          job.device().stream(static_cast<int>(i % 2))),
            "ncclAllReduce");
  require(ncclGroupEnd(), "ncclGroupEnd");
  for (const Vector& vector : vectors)
    job.compare(result, r, vector.get(), expected(job.contract(), r, n, 0, kCount), "in one thread");
  for (const ncclComm_t comm : comms)
    require(ncclCommDestroy(comm), "ncclCommDestroy");
}

/// Pointers come again, memory must come back.
void recreated(Job& job, Result& result) {
  constexpr int kWarm = 3;
  constexpr double kAllowedMiB = 64;
  std::size_t before = 0;
  const int last = job.cycles() + kWarm - 1;
  for (int i = 0; i <= last; ++i) {
    std::fprintf(stderr, "cycle %d\n", i);  // whoever watches sees that it goes on
    if (i == kWarm) {
      job.barrier();
      before = job.device().free_memory();
      job.barrier();
    }
    const ncclComm_t comm = job.new_communicator();
    // As many digests whatever the number of cycles, so that settings with few and many can be compared.
    if (i == 0 || i == last) reduces(job, result, comm, everyone(job), i == 0 ? "first cycle" : "last cycle");
    float* const one = reinterpret_cast<float*>(job.take(sizeof(float)));
    job.device().fill(one, 0, sizeof(float), 0);
    require(ncclAllReduce(one, one, 1, ncclFloat32, ncclSum, comm, job.device().stream(0)), "ncclAllReduce");
    job.device().wait();
    require(ncclCommDestroy(comm), "ncclCommDestroy");
  }
  job.barrier();
  const std::size_t after = job.device().free_memory();
  const double lost = (static_cast<double>(before) - static_cast<double>(after)) / (1 << 20);
  result.figures["lost_mib_of_all_ranks"] = lost;
  result.expect(lost < kAllowedMiB, "memory comes back: " + std::to_string(lost) + " MiB did not");
}

}  // namespace

void add_communicator_cases(Cases& cases) {
  cases.push_back({"comm.split", split});
  cases.push_back({"comm.shrink", shrink});
  cases.push_back({"comm.nonblocking", nonblocking});
  cases.push_back({"comm.made_in_a_group", made_in_a_group});
  cases.push_back({"comm.two_in_a_group", two_in_a_group});
  cases.push_back({"comm.all_in_one_thread", all_in_one_thread});
  cases.push_back({"comm.recreated", recreated});
}

}  // namespace promises
