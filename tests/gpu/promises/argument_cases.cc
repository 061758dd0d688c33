// SPDX-License-Identifier: Apache-2.0
// Wrong arguments and empty messages: NCCL's own codes, in groups and outside.
#include <functional>

#include "cases.h"

namespace promises {
namespace {

struct Wrong {
  const char* what;
  ncclResult_t code;
  std::function<ncclResult_t()> call;
};

/// Every wrong call; `data` has 64 floats.
std::vector<Wrong> wrong_calls(Job& job, const Vector& data) {
  void* const p = data.data();
  const ncclComm_t comm = job.comm();
  const cudaStream_t s = job.device().stream(0);
  const int beyond = 64 + job.ranks();  // not known to the compiler: any number may come by way of C
  const auto bad_type = static_cast<ncclDataType_t>(beyond);
  const auto bad_op = static_cast<ncclRedOp_t>(beyond);
  const int n = job.ranks();
  return {
      {"no communicator", ncclInvalidArgument,
       [=] { return ncclAllReduce(p, p, 8, ncclFloat32, ncclSum, nullptr, s); }},
      {"no communicator, reduce_scatter", ncclInvalidArgument,
       [=] { return ncclReduceScatter(p, p, 1, ncclFloat32, ncclSum, nullptr, s); }},
      {"type", ncclInvalidArgument, [=] { return ncclAllReduce(p, p, 8, bad_type, ncclSum, comm, s); }},
      {"operation", ncclInvalidArgument,
       [=] { return ncclAllReduce(p, p, 8, ncclFloat32, bad_op, comm, s); }},
      {"operation, reduce_scatter", ncclInvalidArgument,
       [=] { return ncclReduceScatter(p, p, 1, ncclFloat32, bad_op, comm, s); }},
      {"root beyond the ranks", ncclInvalidArgument,
       [=] { return ncclReduce(p, p, 8, ncclFloat32, ncclSum, n, comm, s); }},
      {"root -1", ncclInvalidArgument,
       [=] { return ncclReduce(p, p, 8, ncclFloat32, ncclSum, -1, comm, s); }},
  };
}

void codes(Job& job, Result& result) {
  const Reduction r{};
  const Vector data(job, r, 64);
  for (const Wrong& wrong : wrong_calls(job, data))
    result.expect(wrong.call() == wrong.code, std::string("code of a wrong ") + wrong.what);
  result.expect(ncclGroupEnd() == ncclInvalidUsage, "a group's end without a start");
}

/// A wrong call fails its group, which then launches nothing: data stay as they are, and others are not
/// waited for.
void codes_in_groups(Job& job, Result& result) {
  const Reduction r{DataType::float32, Op::sum, 9500};
  Vector data(job, r, 64);
  const Bytes in = input(r, job.rank(), 0, 64);
  data.put(in);
  job.device().wait();
  for (const Wrong& wrong : wrong_calls(job, data)) {
    const std::string what = std::string("wrong ") + wrong.what + " in a group";
    require(ncclGroupStart(), "ncclGroupStart");
    require(
        ncclAllReduce(data.data(), data.data(), 64, ncclFloat32, ncclSum, job.comm(), job.device().stream(0)),
        "ncclAllReduce");
    result.expect(wrong.call() == wrong.code, what + ": the call");
    result.expect(ncclGroupEnd() == wrong.code, what + ": the group's end");
    result.expect(data.get() == in, what + ": nothing was launched");
  }
  require(
      ncclAllReduce(data.data(), data.data(), 64, ncclFloat32, ncclSum, job.comm(), job.device().stream(0)),
      "ncclAllReduce");
  job.compare(result, r, data.get(), expected(job.contract(), r, job.ranks(), 0, 64), "after failed groups");
}

/// No elements: success, also where the other ranks do not call.
void no_elements(Job& job, Result& result) {
  const Reduction r{};
  const Vector data(job, r, 8);
  const cudaStream_t s = job.device().stream(0);
  if (job.rank() == 0) {
    result.expect(
        ncclAllReduce(data.data(), data.data(), 0, ncclFloat32, ncclSum, job.comm(), s) == ncclSuccess,
        "all_reduce of nothing");
    result.expect(ncclReduceScatter(nullptr, nullptr, 0, ncclFloat32, ncclSum, job.comm(), s) == ncclSuccess,
                  "reduce_scatter of nothing");
    result.expect(ncclReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, 0, job.comm(), s) == ncclSuccess,
                  "reduce of nothing");
    require(ncclGroupStart(), "ncclGroupStart");
    result.expect(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclAvg, job.comm(), s) == ncclSuccess,
                  "all_reduce of nothing in a group");
    result.expect(ncclGroupEnd() == ncclSuccess, "a group of nothing");
  }
  job.device().wait();
  result.expect(data.guards_intact(), "nothing is written");
  job.barrier();
}

}  // namespace

void add_argument_cases(Cases& cases) {
  cases.push_back({"arguments.codes", codes});
  cases.push_back({"arguments.codes_in_groups", codes_in_groups});
  cases.push_back({"arguments.no_elements", no_elements});
}

}  // namespace promises
