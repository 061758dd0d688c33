// SPDX-License-Identifier: Apache-2.0
// What libdetccl.so shows to the world, and what it needs from it.
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

TEST(Exports, AreNcclsFunctionsAndDetcclsOwn) {
  Names wanted = declared_functions();
  EXPECT_GE(wanted.size(), 82u) << "nccl.h of 2.28 declares 41 functions, each with its pnccl name";
  wanted.insert({"detcclVersion", "detcclCommContract"});
  const Names exported = column_of("nm -D --defined-only " DETCCL_TEST_LIBRARY, 2);
  for (const std::string& name : exported)
    EXPECT_TRUE(wanted.contains(name)) << name << " should be hidden";
  if (NCCL_VERSION_CODE != 22809) GTEST_SKIP() << "built with the nccl.h of another version than 2.28.9";
  for (const std::string& name : wanted)
    EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
}

TEST(Exports, OnlyTheCLibraryIsNeeded) {
  const Outcome outcome = run("readelf -d " DETCCL_TEST_LIBRARY);
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

TEST(Exports, NothingElseIsImported) {
  for (const std::string& symbol :
       column_of("nm -D --undefined-only " DETCCL_TEST_LIBRARY " | grep -v ' w '", 1))
    EXPECT_TRUE(symbol.find("@GLIBC_") != std::string::npos || symbol.starts_with("__cxa_pure")) << symbol;
}

}  // namespace
}  // namespace detccl::test
