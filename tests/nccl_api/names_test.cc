// SPDX-License-Identifier: Apache-2.0
// Names that a program gives its communicators (ncclConfig_t::commName), as traces have them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "nccl_api/ranks.h"
#include "support/command.h"
#include "trace/folder.h"
#include "trace/reader.h"

namespace detccl::test {
namespace {

ncclConfig_t named(const char* name, int blocking = 1) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.commName = name;
  config.blocking = blocking;
  return config;
}

ncclComm_t make(Rank& rank, int id, ncclConfig_t config) {
  ncclComm_t comm = nullptr;
  const ncclResult_t made =
      ncclCommInitRankConfig(&comm, rank.size(), rank.unique_id(id), rank.rank(), &config);
  require(made == ncclSuccess || (config.blocking == 0 && made == ncclInProgress), "ncclCommInitRankConfig");
  for (ncclResult_t state = ncclInProgress; state == ncclInProgress; std::this_thread::yield())
    require(ncclCommGetAsyncError(comm, &state), ncclSuccess, "ncclCommGetAsyncError");
  return comm;
}

void use_and_destroy(ncclComm_t comm) {
  float value = 1;
  require(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
          "ncclAllReduce");
  require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
}

/// By rank, in the order of creation.
using Names = std::vector<std::vector<std::string>>;

/// The names in the traces of `ranks` ranks that run `body`; all ranks must have the same keys.
Names names_of(int ranks, const std::function<void(Rank&)>& body) {
  const Folder folder;
  RunOptions options;
  options.seconds = 240;
  options.environment = {{"DETCCL_TRACE", "1"}, {"DETCCL_TRACE_DIR", folder.file("t")}};
  const RunResult result = run_ranks(ranks, options, body);
  EXPECT_TRUE(result.ok()) << result.report();
  Names all;
  std::set<std::set<std::uint64_t>> keys;
  std::string error;
  for (const auto& [rank, files] : trace::list_ranks(folder.file("t"), error)) {
    auto source = trace::open_file(files.at(0), error);
    const auto reader = source == nullptr ? nullptr : trace::Reader::open(std::move(source), error);
    if (reader == nullptr) break;
    std::map<std::uint32_t, std::string> by_order;
    std::set<std::uint64_t> its;
    for (const trace::Communicator& c : reader->tables().communicators) {
      EXPECT_EQ(c.key, trace::communicator_key(c));
      by_order[c.creation_order] = c.name;
      its.insert(c.key);
    }
    keys.insert(its);
    std::vector<std::string>& names = all.emplace_back();
    for (const auto& [order, name] : by_order)
      names.push_back(name);
  }
  EXPECT_EQ(error, "");
  EXPECT_LE(keys.size(), 1u) << "one run's ranks know a communicator by the same key";
  return all;
}

TEST(Names, EveryWayOfMakingACommunicator) {
  const Names names = names_of(2, [](Rank& rank) {
    const ncclComm_t world = make(rank, 0, named("world"));
    ncclConfig_t child_config = named("child");
    ncclComm_t child = nullptr, nameless = nullptr, grouped = nullptr;
    require(ncclCommSplit(world, 0, rank.rank(), &child, &child_config), ncclSuccess, "ncclCommSplit");
    require(ncclCommSplit(world, 0, rank.rank(), &nameless, nullptr), ncclSuccess, "ncclCommSplit");
    const ncclUniqueId id = rank.unique_id(1);
    ncclConfig_t group_config = named("in a group");
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    require(ncclCommInitRankConfig(&grouped, rank.size(), id, rank.rank(), &group_config), ncclSuccess,
            "ncclCommInitRankConfig");
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    const ncclComm_t nonblocking = make(rank, 2, named("nonblocking", 0));
    for (const ncclComm_t comm : {world, child, nameless, grouped, nonblocking})
      use_and_destroy(comm);
  });
  const std::vector<std::string> expected = {"world", "child", "", "in a group", "nonblocking"};
  EXPECT_EQ(names, (Names{expected, expected}));
}

TEST(Names, RankZerosCounts) {
  const Names names = names_of(
      2, [](Rank& rank) { use_and_destroy(make(rank, 0, named(rank.rank() == 0 ? "first" : "second"))); });
  EXPECT_EQ(names, (Names{{"first"}, {"first"}}));
}

TEST(Names, LongOnesAreCut) {
  const std::string name(500, 'n');
  const Names names = names_of(2, [&](Rank& rank) { use_and_destroy(make(rank, 0, named(name.c_str()))); });
  const std::vector<std::string> expected = {std::string(127, 'n')};
  EXPECT_EQ(names, (Names{expected, expected}));
}

/// A configuration as NCCL 2.26's header makes it: it ends before the name. Behind it is memory that nobody
/// may read.
TEST(Names, OlderConfigurationsHaveNone) {
  const Names names = names_of(2, [](Rank& rank) {
    constexpr std::size_t kSize = offsetof(ncclConfig_t, commName);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* const pages = static_cast<std::byte*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    require(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0, "mprotect");
    ncclConfig_t config = named("not there");
    config.size = kSize;
    config.version = NCCL_VERSION(2, 26, 0);
    config.netName = "Socket";
    std::byte* const old = pages + page - kSize;
    std::memcpy(old, &config, kSize);
    ncclComm_t comm = nullptr;
    require(ncclCommInitRankConfig(&comm, rank.size(), rank.unique_id(), rank.rank(),
                                   reinterpret_cast<ncclConfig_t*>(old)),
            ncclSuccess, "ncclCommInitRankConfig");
    use_and_destroy(comm);
  });
  EXPECT_EQ(names, (Names{{""}, {""}}));
}

}  // namespace
}  // namespace detccl::test
