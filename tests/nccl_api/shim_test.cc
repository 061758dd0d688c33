// SPDX-License-Identifier: Apache-2.0
// The libnccl.so.2 that is DetCCL: programs that open NCCL themselves, functions that only newer libraries
// have, and libraries that lack functions.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "nccl_api/digest.h"
#include "support/command.h"

namespace detccl::test {
namespace {

constexpr const char* kPermuted = "HOSTNCCL_PLACEMENT=3,1,0,2";
const std::string kHost = "LD_LIBRARY_PATH=" DETCCL_TEST_HOSTNCCL_FOLDER;
const std::string kShimFolder = std::filesystem::path(DETCCL_TEST_SHIM).parent_path();

std::string digest(const std::string& client, const std::string& launcher, const std::string& environment) {
  return run_client(4, client, launcher, environment);
}

TEST(Shim, ReachesAProgramThatOpensNccl) {
  const std::string client = DETCCL_TEST_DLOPEN_CLIENT;
  const std::string ours = digest(DETCCL_TEST_CLIENT, DETCCL_TEST_PROGRAM " run --host --via preload --", "");
  const std::string shim = DETCCL_TEST_PROGRAM " run --host --via shim --";
  EXPECT_EQ(ours, digest(client, shim, ""));
  EXPECT_EQ(ours, digest(client, shim, kPermuted));
  EXPECT_NE(digest(client, "", kHost), digest(client, "", kHost + " " + kPermuted))
      << "native sums do not depend on the placement";
  EXPECT_EQ(ours, digest(client, "", "LD_LIBRARY_PATH=" + kShimFolder + " " + kPermuted))
      << "in the loader's path it needs no LD_PRELOAD";
}

TEST(Shim, ReachesALinkedProgramToo) {
  const std::string ours = digest(DETCCL_TEST_CLIENT, DETCCL_TEST_PROGRAM " run --host --via preload --", "");
  EXPECT_EQ(ours, digest(DETCCL_TEST_CLIENT, "env LD_PRELOAD=" DETCCL_TEST_SHIM, kPermuted));
}

/// Opens a DetCCL over the NCCL library `real`; in a child process only, as it looks for that once.
class Opened {
 public:
  Opened(const char* library, const char* real) {
    setenv("DETCCL_NCCL_LIBRARY", real, 1);
    handle_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) fail(dlerror());
  }

  template <class Signature>
  Signature* function(const char* name) const {
    void* address = dlsym(handle_, name);
    if (address == nullptr) fail(dlerror());
    return reinterpret_cast<Signature*>(address);
  }

  [[noreturn]] static void fail(const char* text) {
    std::fprintf(stderr, "%s\n", text);
    std::_Exit(1);
  }

 private:
  void* handle_ = nullptr;
};

void expect(bool holds, const char* text) {
  if (!holds) Opened::fail(text);
}

void call_functions_that_2_18_lacks(const char* library) {
  const Opened nccl(library, DETCCL_TEST_OLD_NCCL);
  int version = 0;
  expect(nccl.function<int(int*)>("ncclGetVersion")(&version) == 0 && version == 21805, "the version");
  expect(nccl.function<int(void*, int*, int, void**, void*, int)>("ncclCommShrink")(nullptr, nullptr, 0,
                                                                                    nullptr, nullptr, 0) == 5,
         "ncclCommShrink");
  void* memory = nullptr;
  expect(nccl.function<int(void**, std::size_t)>("pncclMemAlloc")(&memory, 1) == 5, "ncclMemAlloc");
  expect(std::string(nccl.function<const char*(int)>("ncclGetErrorString")(5)) == "old text", "a text");
  std::_Exit(0);
}

TEST(Shim, AnOldLibraryLacksFunctionsAndTheyAreNamed) {
  for (const char* library : {DETCCL_TEST_LIBRARY, DETCCL_TEST_SHIM}) {
    EXPECT_EXIT(call_functions_that_2_18_lacks(library), testing::ExitedWithCode(0),
                "ncclCommShrink: .*nccl_2_18.so has no such function(.|\n)*ncclMemAlloc: ");
  }
}

struct Team {
  int ranks, rank, stride;
};

using ManyArguments = double(int, double, long, double, unsigned, float, int, double, int, double, int,
                             double, int, double, int, double, double);

void call_newer_functions() {
  const Opened nccl(DETCCL_TEST_SHIM, DETCCL_TEST_NEW_NCCL);
  auto* many = nccl.function<ManyArguments>("pncclParamGet");
  for (const int round : {1, 2}) {
    const double sum =
        many(round, 0.5, 1L << 40, 0.25, 4000000000u, 0.125f, -4, 1, -5, 2, 6, 3, 7, 4, 8, 5, 6.5);
    expect(sum == round + 2 * 1099511627776.0 + 12000000000.0 - 16 - 25 + 36 + 49 + 64 + 5 + 5 + 3.75 + 40 +
                      100 + 180 + 280 + 400 + 585,
           "the arguments");
  }
  int ranks = 8;
  const Team team = nccl.function<Team(void*)>("ncclTeamWorld")(&ranks);
  expect(team.ranks == 8 && team.rank == 1 && team.stride == -7, "a result in two registers");
  int calls = 0;
  expect(nccl.function<int(int*)>("ncclCommResume")(&calls) == 1, "the first call");
  expect(nccl.function<int(int*)>("pncclCommResume")(&calls) == 2, "the second call");
  std::_Exit(0);
}

TEST(Shim, NewerFunctionsGetTheirArgumentsAsTheyAre) {
  EXPECT_EXIT(call_newer_functions(), testing::ExitedWithCode(0), "");
}

void call_newer_operations(const char* library) {
  const Opened nccl(library, DETCCL_TEST_NEW_NCCL);
  unsigned long seen = 0;
  using PutSignal =
      int(void*, unsigned long, int, int, void*, unsigned long, int, int, unsigned, void*, void*);
  expect(
      nccl.function<PutSignal>("ncclPutSignal")(&seen, 1, 2, 3, nullptr, 4, 5, 6, 7, nullptr, nullptr) == 0,
      "ncclPutSignal");
  expect(seen == 7654321, "its arguments");
  int received = 0;
  const int config = 1000;
  using Broadcast = int(const void*, void*, unsigned long, int, int, void*, void*, const void*);
  expect(nccl.function<Broadcast>("pncclBroadcastConfig")(nullptr, &received, 30, 0, 4, nullptr, nullptr,
                                                          &config) == 0 &&
             received == 1034,
         "ncclBroadcastConfig");
  void* grown = &received;
  using Grow = int(void*, int, const void*, int, void**, void*);
  expect(
      nccl.function<Grow>("ncclCommGrow")(nullptr, 3, nullptr, -1, &grown, nullptr) == 0 && grown == nullptr,
      "ncclCommGrow");
  std::_Exit(0);
}

TEST(Shim, NewerOperationsAreSeenOnTheirWay) {
  for (const char* library : {DETCCL_TEST_LIBRARY, DETCCL_TEST_SHIM})
    EXPECT_EXIT(call_newer_operations(library), testing::ExitedWithCode(0), "");
}

void call_newer_functions_of_an_old_library() {
  const Opened nccl(DETCCL_TEST_SHIM, DETCCL_TEST_OLD_NCCL);
  expect(nccl.function<int(void*, int)>("ncclCommSuspend")(nullptr, 0) == 5, "ncclCommSuspend");
  expect(nccl.function<int(void*, int)>("pncclCommSuspend")(nullptr, 0) == 5, "again");
  using Signal = int(int, int, int, unsigned, void*, void*);
  expect(nccl.function<Signal>("ncclSignal")(0, 0, 0, 0, nullptr, nullptr) == 5, "ncclSignal");
  const Team team = nccl.function<Team(void*)>("ncclTeamWorld")(nullptr);
  expect(team.ranks == 0 && team.rank == 0 && team.stride == 0, "a function without code");
  std::_Exit(0);
}

TEST(Shim, NewerFunctionsThatTheLibraryLacksAreNamedAtEachCall) {
  EXPECT_EXIT(call_newer_functions_of_an_old_library(), testing::ExitedWithCode(0),
              "ncclCommSuspend: .*nccl_2_18.so has no such function(.|\n)*ncclCommSuspend: "
              "(.|\n)*ncclSignal: (.|\n)*ncclTeamWorld: ");
}

/// ncclCollConfig_t of 2.32: what comes after the size is not looked at, but for the event at its end.
struct CollectiveConfig {
  std::size_t size = sizeof(CollectiveConfig);
  std::uint64_t others[7] = {};
  void* launch_event = nullptr;
};

using AllReduceConfig = ncclResult_t(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                                     cudaStream_t, const void*);

void reduce_with_a_configuration(const char* library) {
  const Opened nccl(library, DETCCL_TEST_HOSTNCCL_FOLDER "/libnccl.so.2");
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  expect(nccl.function<decltype(ncclGetUniqueId)>("ncclGetUniqueId")(&id) == ncclSuccess, "the id");
  expect(nccl.function<decltype(ncclCommInitRank)>("ncclCommInitRank")(&comm, 1, id, 0) == ncclSuccess,
         "the rank");
  auto* reduce = nccl.function<AllReduceConfig>("ncclAllReduceConfig");
  const float send = 3;
  CollectiveConfig config;
  for (const CollectiveConfig* given :
       {static_cast<const CollectiveConfig*>(nullptr), &std::as_const(config)}) {
    float receive = 0;
    expect(reduce(&send, &receive, 1, ncclFloat32, ncclSum, comm, nullptr, given) == ncclSuccess,
           "a reduction");
    expect(receive == send, "its result");
  }
  config.launch_event = &config;
  float untouched = 0;
  expect(reduce(&send, &untouched, 1, ncclFloat32, ncclSum, comm, nullptr, &config) == ncclInvalidUsage &&
             untouched == 0,
         "an event");
  std::_Exit(0);
}

TEST(Shim, ReductionsWithAConfigurationAreDetccls) {
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  for (const char* library : {DETCCL_TEST_LIBRARY, DETCCL_TEST_SHIM})
    EXPECT_EXIT(reduce_with_a_configuration(library), testing::ExitedWithCode(0), "launchCompletionEvent");
}

void reduce_natively() {
  setenv("DETCCL_DISABLE", "1", 1);
  const Opened nccl(DETCCL_TEST_SHIM, DETCCL_TEST_NEW_NCCL);
  int calls = 0;
  auto* reduce = nccl.function<AllReduceConfig>("ncclAllReduceConfig");
  expect(reduce(nullptr, nullptr, 7, ncclFloat32, ncclSum, nullptr, nullptr, &calls) == ncclSuccess,
         "the call");
  expect(calls == 7, "the real library's function");
  std::_Exit(0);
}

TEST(Shim, DisabledTheyAreTheRealLibrarys) {
  EXPECT_EXIT(reduce_natively(), testing::ExitedWithCode(0), "");
}

/// A library's name, which the loader takes for the shim itself once that is loaded.
void ask_by_name(const char* name) {
  const Opened nccl(DETCCL_TEST_SHIM, name);
  int version = 0;
  expect(nccl.function<int(int*)>("ncclGetVersion")(&version) == 0, "the version");
  std::_Exit(0);
}

TEST(Shim, FindsTheLibraryBehindItsOwnName) {
  const Folder folder;
  std::filesystem::create_symlink(DETCCL_TEST_NEW_NCCL, folder.file("libnccl.so.2"));
  setenv("LD_LIBRARY_PATH", folder.file("").c_str(), 1);
  setenv("DETCCL_LOG", "info", 1);
  EXPECT_EXIT(ask_by_name("libnccl.so.2"), testing::ExitedWithCode(0), "over .*nccl_2_30.so");
  EXPECT_EXIT(ask_by_name(""), testing::ExitedWithCode(0), "over .*libnccl.so.2|over .*nccl_2_30.so");
  // Itself, under whatever path, is none.
  EXPECT_EXIT(ask_by_name(DETCCL_TEST_SHIM), testing::ExitedWithCode(1), "is DetCCL itself");
  EXPECT_EXIT(ask_by_name(DETCCL_TEST_LIBRARY), testing::ExitedWithCode(1), "is DetCCL itself");
  unsetenv("LD_LIBRARY_PATH");
  unsetenv("DETCCL_LOG");
}

}  // namespace
}  // namespace detccl::test
