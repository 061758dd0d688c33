// SPDX-License-Identifier: Apache-2.0
// How communicators end: also while a reduction waits for a rank that does not come.
#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "cases.h"

namespace promises {
namespace {

constexpr std::size_t kCount = 300000;
constexpr double kInTime = 20;  // seconds

/// An operation over kCount elements of `data`, or, gathered, as many in all.
using Start = ncclResult_t (*)(Job& job, float* data, ncclComm_t comm);

ncclResult_t reduce(Job& job, float* data, ncclComm_t comm) {
  return ncclAllReduce(data, data, kCount, ncclFloat32, ncclAvg, comm, job.device().stream(0));
}

/// On the program's own communicator, not on the one beside it.
ncclResult_t gather(Job& job, float* data, ncclComm_t comm) {
  const std::size_t count = kCount / static_cast<std::size_t>(job.ranks());
  return ncclAllGather(data + static_cast<std::size_t>(job.rank()) * count, data, count, ncclFloat32, comm,
                       job.device().stream(0));
}

/// Starts an operation that the last rank does not join, and calls `interrupt` on all ranks. How long that
/// and the end of the operation took, seconds; `code` gets what its call returned.
template <class Interrupt>
double interrupted(Job& job, ncclComm_t comm, Start start_operation, ncclResult_t& code,
                   Interrupt interrupt) {
  const Reduction r{DataType::float32, Op::sum, 9000};
  Vector data(job, r, kCount);
  data.put(input(r, job.rank(), 0, kCount));
  float* const elements = reinterpret_cast<float*>(data.data());
  // Once with all of them: what waits later is the operation, not its connections.
  require(start_operation(job, elements, comm), "the operation");
  job.device().wait();
  const bool missing = job.rank() == job.ranks() - 1;
  code = ncclSuccess;
  // On the host the call itself waits: another thread.
  std::thread waiting([&] {
    if (missing) return;
    code = start_operation(job, elements, comm);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const auto start = std::chrono::steady_clock::now();
  interrupt();
  waiting.join();
  job.device().wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void finalize(Job& job, Result& result) {
  const Reduction r{DataType::bfloat16, Op::sum, 9100};
  const ncclComm_t comm = job.new_communicator();
  Vector data(job, r, kCount);
  data.put(input(r, job.rank(), 0, kCount));
  require(
      ncclAllReduce(data.data(), data.data(), kCount, nccl(r.type), ncclSum, comm, job.device().stream(0)),
      "ncclAllReduce");
  require(ncclCommFinalize(comm), "ncclCommFinalize");  // with the reduction under way
  require(settle(comm), "ncclCommFinalize");
  require(ncclCommDestroy(comm), "ncclCommDestroy");
  job.compare(result, r, data.get(), expected(job.contract(), r, job.ranks(), 0, kCount), "finalized");
}

void abort_idle(Job& job, Result& result) {
  const ncclComm_t comm = job.new_communicator();
  job.barrier();
  result.expect(ncclCommAbort(comm) == ncclSuccess, "ncclCommAbort of a communicator that was not used");
}

void abort_while(Job& job, Result& result, Start start_operation) {
  if (job.ranks() < 2) {
    result.skipped = "needs two ranks";
    return;
  }
  const ncclComm_t comm = job.new_communicator();
  ncclResult_t code = ncclSuccess, aborted = ncclSuccess;
  const double seconds =
      interrupted(job, comm, start_operation, code, [&] { aborted = ncclCommAbort(comm); });
  result.figures["seconds_to_end"] = seconds;
  result.expect(aborted == ncclSuccess, "ncclCommAbort");
  result.expect(seconds < kInTime, "an aborted operation ends in time");
  job.barrier();
  // The library goes on working.
  const Reduction r{DataType::float32, Op::sum, 9200};
  Vector data(job, r, 1000);
  data.put(input(r, job.rank(), 0, 1000));
  require(
      ncclAllReduce(data.data(), data.data(), 1000, ncclFloat32, ncclSum, job.comm(), job.device().stream(0)),
      "ncclAllReduce");
  job.compare(result, r, data.get(), expected(job.contract(), r, job.ranks(), 0, 1000), "after an abort");
}

void abort_waiting(Job& job, Result& result) {
  abort_while(job, result, reduce);
}

void abort_native_waiting(Job& job, Result& result) {
  abort_while(job, result, gather);
}

void revoke(Job& job, Result& result) {
  const auto function = reinterpret_cast<decltype(&ncclCommRevoke)>(dlsym(RTLD_DEFAULT, "ncclCommRevoke"));
  if (function == nullptr || job.ranks() < 2) {
    result.skipped = function == nullptr ? "this NCCL has no ncclCommRevoke" : "needs two ranks";
    return;
  }
  const ncclComm_t comm = job.new_communicator();
  ncclResult_t code = ncclSuccess, revoked = ncclSuccess;
  const double seconds = interrupted(job, comm, reduce, code, [&] {
    revoked = function(comm, NCCL_REVOKE_DEFAULT);
    if (revoked == ncclInvalidUsage) ncclCommAbort(comm);  // not in the library underneath
  });
  if (revoked == ncclInvalidUsage) {
    result.skipped = "the NCCL underneath has no ncclCommRevoke";
    return;
  }
  result.figures["seconds_to_end"] = seconds;
  result.expect(revoked == ncclSuccess || revoked == ncclInProgress, "ncclCommRevoke");
  result.expect(seconds < kInTime, "a revoked communicator's reduction ends in time");
  float* const one = reinterpret_cast<float*>(job.take(sizeof(float)));
  result.expect(
      ncclAllReduce(one, one, 1, ncclFloat32, ncclSum, comm, job.device().stream(0)) == ncclInvalidUsage,
      "a reduction on a revoked communicator is invalid usage");
  job.barrier();
  require(ncclCommAbort(comm), "ncclCommAbort");
}

}  // namespace

void add_end_cases(Cases& cases) {
  cases.push_back({"end.finalize", finalize});
  cases.push_back({"end.abort_idle", abort_idle});
  cases.push_back({"end.abort_waiting", abort_waiting});
  cases.push_back({"end.abort_native_waiting", abort_native_waiting});
  cases.push_back({"end.revoke_waiting", revoke});
}

}  // namespace promises
