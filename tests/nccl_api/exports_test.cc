// SPDX-License-Identifier: Apache-2.0
// What libdetccl.so and the shim show to the world, and what they need from it.
#include <gtest/gtest.h>
#include <nccl.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "support/command.h"

namespace detccl::test {
namespace {

using Names = std::set<std::string>;

/// The functions that nccl.h declares.
Names declared_functions() {
  std::ifstream file(DETCCL_TEST_NCCL_HEADER);
  const std::string header{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::regex declaration(R"((?:^|\n)\s*(?:ncclResult_t|const char\*|void)\s+(p?nccl\w+)\s*\()");
  Names names;
  for (std::sregex_iterator match(header.begin(), header.end(), declaration), end; match != end; ++match)
    names.insert((*match)[1].str());
  return names;
}

/// The words at position `column` of the lines of a command's output.
Names column_of(const std::string& command, int column) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << command << ": " << outcome.output;
  Names names;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i <= column; ++i)
      words >> word;
    names.insert(word);
  }
  return names;
}

Names exports_of(const std::string& library) {
  return column_of("nm -D --defined-only " + library, 2);
}

/// "A B" -> ncclA, pncclA, ncclB, pncclB.
Names with_profiling_names(const std::string& text) {
  std::istringstream words(text);
  Names both;
  for (std::string name; words >> name;) {
    both.insert("nccl" + name);
    both.insert("pnccl" + name);
  }
  return both;
}

/// Functions of NCCL that nccl.h of 2.28.9 does not declare, and that the shim forwards: those of
/// nccl_device.h, and 2.29's to 2.32's.
Names newer_functions() {
  return with_profiling_names(
      "DevCommCreate DevCommDestroy GinBarrierCreateRequirement LLA2ACalcSlots LLA2ACreateRequirement "
      "LsaBarrierCreateRequirement TeamLsa TeamRail TeamRankToLsa TeamRankToWorld TeamWorld "
      "CommQueryProperties GetLsaDevicePointer GetLsaMultimemDevicePointer GetMultimemDevicePointer "
      "GetPeerDevicePointer GinInboxA2ACreateRequirement GinOutboxCreateRequirement CommGetUniqueId "
      "CommMemStats CommResume CommSuspend ParamBind ParamDumpAll ParamGet ParamGetAllParameterKeys "
      "ParamGetI8 ParamGetI16 ParamGetI32 ParamGetI64 ParamGetU8 ParamGetU16 ParamGetU32 ParamGetU64 "
      "ParamGetParameter ParamGetStr WinGetUserPtr ResetDebugInitInternal "
      "SetEncryption "
      "GetCftDeviceLeInfo GetMultimemDeviceLeInfo GetPeerDeviceLeInfo TeamCft TeamCftMultimem");
}

/// Those that both builds have: DetCCL has to see them.
Names own_functions() {
  Names names = with_profiling_names(
      "AllReduceConfig ReduceConfig ReduceScatterConfig AllGatherConfig AlltoAllConfig BroadcastConfig "
      "GatherConfig ScatterConfig CommGrow PutSignal Signal WaitSignal");
  names.insert({"detcclVersion", "detcclCommContract", "detcclMark", "detcclMarkStep", "detcclObserve",
                "InitializeInjectionNvtx2"});
  return names;
}

void expect_exports(const std::string& library, Names wanted) {
  wanted.merge(own_functions());
  const Names exported = exports_of(library);
  for (const std::string& name : exported)
    EXPECT_TRUE(wanted.contains(name)) << name << " should be hidden";
  if (NCCL_VERSION_CODE != 22809) GTEST_SKIP() << "built with the nccl.h of another version than 2.28.9";
  for (const std::string& name : wanted)
    EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
}

TEST(Exports, AreNcclsFunctionsAndDetcclsOwn) {
  Names wanted = declared_functions();
  EXPECT_GE(wanted.size(), 82u) << "nccl.h of 2.28 declares 41 functions, each with its pnccl name";
  expect_exports(DETCCL_TEST_LIBRARY, wanted);
}

TEST(Exports, TheShimHasTheNewerOnesToo) {
  Names wanted = declared_functions();
  wanted.merge(newer_functions());
  expect_exports(DETCCL_TEST_SHIM, wanted);
}

/// Where this machine has a real NCCL, of whatever version up to 2.32.
TEST(Exports, TheShimHasWhatTheInstalledNcclHas) {
  const Outcome installed =
      run("sh -c \"/sbin/ldconfig -p | sed -n 's/.*libnccl.so.2 .*=> //p' | head -n 1\"");
  const std::string library = installed.output.substr(0, installed.output.find('\n'));
  if (library.empty()) GTEST_SKIP() << "no NCCL is installed";
  const Names shim = exports_of(DETCCL_TEST_SHIM);
  for (const std::string& name : exports_of(library))
    EXPECT_TRUE(shim.contains(name)) << name << " of " << library;
}

class BothLibraries : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Exports, BothLibraries, testing::Values(DETCCL_TEST_LIBRARY, DETCCL_TEST_SHIM),
                         [](const auto& library) { return library.index == 0 ? "Preload" : "Shim"; });

TEST_P(BothLibraries, OnlyTheCLibraryIsNeeded) {
  const Outcome outcome = run(std::string("readelf -d ") + GetParam());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const std::regex needed(R"(\(NEEDED\).*\[(.*)\])");
  const std::regex allowed(R"(lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux.*)");
  int found = 0;
  for (std::sregex_iterator match(outcome.output.begin(), outcome.output.end(), needed), end; match != end;
       ++match) {
    ++found;
    EXPECT_TRUE(std::regex_match((*match)[1].str(), allowed)) << (*match)[1].str();
  }
  EXPECT_GT(found, 0);
}

TEST_P(BothLibraries, NothingElseIsImported) {
  for (const std::string& symbol :
       column_of(std::string("nm -D --undefined-only ") + GetParam() + " | grep -v ' w '", 1))
    EXPECT_TRUE(symbol.find("@GLIBC_") != std::string::npos || symbol.starts_with("__cxa_pure")) << symbol;
}

TEST(Exports, TheShimIsAnNcclByName) {
  const Outcome outcome = run("readelf -d " DETCCL_TEST_SHIM);
  EXPECT_NE(outcome.output.find("soname: [libnccl.so.2]"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace detccl::test
