// SPDX-License-Identifier: Apache-2.0
// Bad calls: the codes are those that the real library gives for the same call.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <string>
#include <vector>

#include "nccl_api/ranks.h"

namespace detccl::test {
namespace {

/// The three reductions, of DetCCL and of the library underneath.
struct Reductions {
  decltype(&ncclAllReduce) all_reduce = &ncclAllReduce;
  decltype(&ncclReduceScatter) reduce_scatter = &ncclReduceScatter;
  decltype(&ncclReduce) reduce = &ncclReduce;

  static Reductions real() {
    void* library = dlopen(DETCCL_TEST_HOSTNCCL, RTLD_NOW | RTLD_NOLOAD);
    require(library != nullptr, "the real library is loaded");
    const auto find = [library](const char* name) { return dlsym(library, name); };
    Reductions r;
    r.all_reduce = reinterpret_cast<decltype(&ncclAllReduce)>(find("ncclAllReduce"));
    r.reduce_scatter = reinterpret_cast<decltype(&ncclReduceScatter)>(find("ncclReduceScatter"));
    r.reduce = reinterpret_cast<decltype(&ncclReduce)>(find("ncclReduce"));
    require(r.all_reduce != nullptr && r.all_reduce != &ncclAllReduce, "the real library is another one");
    return r;
  }
};

struct Arguments {
  const char* what;
  std::size_t count;
  int type;
  int op;
  int root;
  ncclComm_t comm;
  bool buffers = true;
};

std::vector<ncclResult_t> codes(const Reductions& r, const Arguments& a) {
  std::vector<float> in(8), out(8);
  const auto type = static_cast<ncclDataType_t>(a.type);
  const auto op = static_cast<ncclRedOp_t>(a.op);
  const float* send = a.buffers ? in.data() : nullptr;
  float* receive = a.buffers ? out.data() : nullptr;
  return {r.all_reduce(send, receive, a.count, type, op, a.comm, nullptr),
          r.reduce_scatter(send, receive, a.count, type, op, a.comm, nullptr),
          r.reduce(send, receive, a.count, type, op, a.root, a.comm, nullptr)};
}

std::string to_text(const std::vector<ncclResult_t>& results) {
  std::string text;
  for (const ncclResult_t result : results)
    text += " " + std::to_string(result);
  return text;
}

TEST(Arguments, CodesAreTheRealLibrarys) {
  const RunResult result = run_ranks(1, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const ncclComm_t other = rank.communicator(1);
    const ncclComm_t ended = rank.communicator(2);
    require(ncclCommDestroy(ended), ncclSuccess, "ncclCommDestroy");
    float factor = 2;
    double double_factor = 2;
    ncclRedOp_t doubles, destroyed, foreign;
    require(ncclRedOpCreatePreMulSum(&doubles, &double_factor, ncclFloat64, ncclScalarHostImmediate, comm),
            ncclSuccess, "op");
    require(ncclRedOpCreatePreMulSum(&destroyed, &factor, ncclFloat32, ncclScalarHostImmediate, comm),
            ncclSuccess, "op");
    require(ncclRedOpCreatePreMulSum(&foreign, &factor, ncclFloat32, ncclScalarHostImmediate, other),
            ncclSuccess, "op");
    require(ncclRedOpDestroy(destroyed, comm), ncclSuccess, "ncclRedOpDestroy");
    char not_a_communicator[4096] = {};
    const auto corrupt = reinterpret_cast<ncclComm_t>(not_a_communicator);

    const std::vector<Arguments> calls = {
        {"sound", 4, ncclFloat32, ncclSum, 0, comm},
        {"no elements", 0, ncclFloat32, ncclSum, 0, comm},
        {"no elements, no buffers", 0, ncclFloat32, ncclSum, 0, comm, false},
        {"no elements, bad type", 0, ncclNumTypes, ncclSum, 0, comm},
        {"no buffers", 4, ncclFloat32, ncclSum, 0, comm, false},
        {"no communicator", 4, ncclFloat32, ncclSum, 0, nullptr},
        {"no communicator, no elements", 0, ncclFloat32, ncclSum, 0, nullptr},
        {"a destroyed communicator", 4, ncclFloat32, ncclSum, 0, ended},
        {"a corrupt communicator", 4, ncclFloat32, ncclSum, 0, corrupt},
        {"type -1", 4, -1, ncclSum, 0, comm},
        {"type too large", 4, ncclNumTypes, ncclSum, 0, comm},
        {"op -1", 4, ncclFloat32, -1, 0, comm},
        {"op unknown", 4, ncclFloat32, 1000, 0, comm},
        {"op too large", 4, ncclFloat32, ncclMaxRedOp, 0, comm},
        {"op of another type", 1, ncclFloat32, doubles, 0, comm},
        {"op destroyed", 4, ncclFloat32, destroyed, 0, comm},
        {"op of another communicator", 4, ncclFloat32, foreign, 0, comm},
        {"root -1", 4, ncclFloat32, ncclSum, -1, comm},
        {"root too large", 4, ncclFloat32, ncclSum, 1, comm},
        {"average of integers", 4, ncclInt8, ncclAvg, 0, comm},
    };
    for (const Arguments& call : calls) {
      const auto ours = codes(Reductions{}, call), real = codes(Reductions::real(), call);
      require(ours == real,
              std::string(call.what) + ": ours" + to_text(ours) + ", the real library's" + to_text(real));
    }
    for (const ncclComm_t c : {comm, other})
      require(ncclCommDestroy(c), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Arguments, NullPointersOfOtherFunctions) {
  const RunResult result = run_ranks(1, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    int number = 0;
    ncclResult_t error = ncclSuccess;
    require(ncclCommInitRank(nullptr, 1, rank.unique_id(1), 0), ncclInvalidArgument,
            "ncclCommInitRank to nowhere");
    require(ncclCommInitAll(nullptr, 1, nullptr), ncclInvalidArgument, "ncclCommInitAll to nowhere");
    require(ncclCommCount(nullptr, &number), ncclInvalidArgument, "ncclCommCount of no communicator");
    require(ncclCommGetAsyncError(nullptr, &error), ncclInvalidArgument,
            "ncclCommGetAsyncError of no communicator");
    require(ncclCommGetAsyncError(comm, nullptr), ncclInvalidArgument, "ncclCommGetAsyncError to nowhere");
    require(ncclRedOpCreatePreMulSum(nullptr, &number, ncclInt32, ncclScalarHostImmediate, comm),
            ncclInvalidArgument, "ncclRedOpCreatePreMulSum to nowhere");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// What is refused is refused alike, and nobody looks at buffers that are not there.
TEST(Arguments, TracedOrNotMissingBuffersAreRefusedAlike) {
  for (const char* disable : {"0", "1"}) {
    RunOptions options;
    options.environment = {{"DETCCL_TRACE", "chunks:1"},
                           {"DETCCL_TRACE_DIR", testing::TempDir() + "detccl-arguments-trace"},
                           {"DETCCL_DISABLE", disable}};
    const RunResult result = run_ranks(1, options, [](Rank& rank) {
      const ncclComm_t comm = rank.communicator();
      float value = 1;
      require(ncclAllReduce(nullptr, nullptr, 4, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidArgument,
              "ncclAllReduce of nothing");
      require(ncclAllReduce(&value, nullptr, 1, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidArgument,
              "ncclAllReduce to nowhere");
      require(ncclAllGather(nullptr, &value, 1, ncclFloat32, comm, nullptr), ncclInvalidArgument,
              "ncclAllGather of nothing");
      require(ncclBroadcast(nullptr, nullptr, 1, ncclFloat32, 0, comm, nullptr), ncclInvalidArgument,
              "ncclBroadcast of nothing");
      require(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
              "ncclAllReduce");
      require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
    });
    EXPECT_TRUE(result.ok()) << "DETCCL_DISABLE=" << disable << " " << result.report();
  }
}

}  // namespace
}  // namespace detccl::test
