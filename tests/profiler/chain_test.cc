// SPDX-License-Identifier: Apache-2.0
// Another plugin behind this one gets what NCCL would have given it alone.
#include <gtest/gtest.h>

#include <sstream>

#include "nccl_side.h"

namespace detccl::test {
namespace {

std::string other_file(const std::string& versions) {
  return DETCCL_TEST_FOLDER "/other_profiler_" + versions + ".so";
}

/// The other plugin, of which the process has one for all tests.
class Other {
 public:
  explicit Other(const std::string& versions) {
    std::filesystem::copy_file(other_file(versions), file());
    library_ = dlopen(file().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }
  std::string file() const { return folder_.file("other.so"); }
  void want(int mask) { reinterpret_cast<void (*)(int)>(dlsym(library_, "other_want"))(mask); }
  std::vector<std::string> journal() const {
    std::istringstream text(reinterpret_cast<const char* (*)()>(dlsym(library_, "other_journal"))());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);)
      lines.push_back(line);
    return lines;
  }

 private:
  Folder folder_;
  void* library_ = nullptr;
};

template <int V>
std::vector<std::string> journal_of(const std::string& versions, int mask, const std::string& events,
                                    const Call& call = {}) {
  Other other(versions);
  other.want(mask);
  Plugin plugin(events, other.file());
  Nccl<V> nccl(plugin);
  void* context = nccl.init(7, 2, 4);
  EXPECT_EQ(nccl.mask & mask, mask);
  nccl.all_reduce(context, call);
  nccl.finalize(context);
  if (events != "off") {
    EXPECT_EQ(plugin.read().at(0).at("classes").at(0).at("count"), 1);
  }
  return other.journal();
}

using Lines = std::vector<std::string>;
constexpr int kOperations = abi::collective | abi::point_to_point | abi::proxy_operation;
const Call kOneChannel{.channels = 1, .gpu_began = 10, .gpu_nanoseconds = 10};

TEST(Chain, TheSameVersion) {
  EXPECT_EQ(journal_of<1>("1", kOperations, "calls", kOneChannel),
            (Lines{"init 0 -1", "start 1 under 0", "start 2 under 1 4 1024", "stop 2", "stop 1",
                   "start 8 under 2", "stop 8", "finalize 0"}));
  EXPECT_EQ(journal_of<2>("2", kOperations, "calls", kOneChannel),
            (Lines{"init 0 -1", "start 1 under 0", "start 2 under 1 AllReduce 1024", "stop 2", "stop 1",
                   "start 8 under 2", "stop 8", "finalize 0"}));
  EXPECT_EQ(journal_of<4>("4", kOperations, "calls", kOneChannel),
            (Lines{"init 7 2", "start 1 under 0 of 7", "start 2 under 1 AllReduce 1024 of 7", "stop 2",
                   "stop 1", "start 8 under 2 of 7", "record 19 8", "stop 8", "finalize 7"}));
  const Lines newest{"init 7 2",
                     "start 256 under 0 of 7",
                     "record 23 256",
                     "start 512 under 256 of 7",
                     "stop 512",
                     "record 24 256",
                     "start 1 under 0 of 7",
                     "start 2 under 512 AllReduce 1024 of 7",
                     "stop 2",
                     "stop 1",
                     "stop 256",
                     "start 8 under 2 of 7",
                     "record 19 8",
                     "stop 8",
                     "finalize 7"};
  EXPECT_EQ(journal_of<5>("5", kOperations, "calls", kOneChannel), newest);
  EXPECT_EQ(journal_of<6>("6", kOperations, "calls", kOneChannel), newest);
  EXPECT_EQ(journal_of<6>("5", kOperations, "calls", kOneChannel), newest);
  EXPECT_EQ(journal_of<6>("45", kOperations, "off", kOneChannel), newest);
}

TEST(Chain, AnOlderVersionHasTheGroupForParent) {
  const Lines four{"init 7 2",
                   "start 1 under 0 of 7",
                   "start 2 under 1 AllReduce 1024 of 7",
                   "stop 2",
                   "stop 1",
                   "start 8 under 2 of 7",
                   "record 19 8",
                   "stop 8",
                   "finalize 7"};
  EXPECT_EQ(journal_of<6>("4", kOperations, "calls", kOneChannel), four);
  const Lines old{"init 0 -1", "start 1 under 0", "start 2 under 1 AllReduce 1024",
                  "stop 2",    "stop 1",          "start 8 under 2",
                  "stop 8",    "finalize 0"};
  EXPECT_EQ(journal_of<6>("3", kOperations, "calls", kOneChannel), old);
  EXPECT_EQ(journal_of<4>("2", kOperations, "calls", kOneChannel), old);
  EXPECT_EQ(journal_of<5>("1", kOperations, "calls", kOneChannel)[2], "start 2 under 1 4 1024");
}

TEST(Chain, OnlyWhatItAskedFor) {
  // Ours has kernels, the other's nothing but groups.
  EXPECT_EQ(journal_of<4>("4", abi::group, "kernels", kOneChannel),
            (Lines{"init 7 2", "start 1 under 0 of 7", "stop 1", "finalize 7"}));
  // A state of an event that only the other has.
  const Lines steps = journal_of<6>("6", abi::proxy_step, "calls", kOneChannel);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "start 16 under 8 of 7"), 1);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "record 9 16"), 1);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "stop 16"), 1);
}

TEST(Chain, AnotherProcessesParentIsNotPassedOn) {
  Call call = kOneChannel;
  call.pid = getpid() + 1;
  const Lines lines = journal_of<6>("6", abi::proxy_operation, "calls", call);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "start 8 under 0 of 7"), 1);
}

TEST(Chain, ChangesItsMaskWhileItRuns) {
  Other other("6");
  other.want(abi::collective);
  Plugin plugin("calls", other.file());
  Nccl<6> nccl(plugin);
  void* context = nccl.init(7, 0, 2);
  nccl.all_reduce(context, kOneChannel);
  EXPECT_FALSE(nccl.asks(abi::kernel_channel));
  other.want(abi::kernel_channel);
  nccl.all_reduce(context, kOneChannel);  // NCCL reads the mask anew for each call
  EXPECT_TRUE(nccl.asks(abi::kernel_channel));
  nccl.all_reduce(context, kOneChannel);
  other.want(0);
  nccl.all_reduce(context, kOneChannel);
  EXPECT_FALSE(nccl.asks(abi::kernel_channel));
  nccl.finalize(context);
  const Lines lines = other.journal();
  EXPECT_GE(std::count(lines.begin(), lines.end(), "record 22 64"), 1);
}

TEST(Chain, WithoutTheOtherPluginWorksAlone) {
  for (const std::string& file : {std::string("/nowhere/plugin.so"), other_file("6")}) {
    Plugin plugin("calls", file);
    Nccl<4> nccl(plugin);  // the file that is there has version 6 only
    void* context = nccl.init(7, 0, 2);
    nccl.all_reduce(context, kOneChannel);
    nccl.finalize(context);
    EXPECT_EQ(plugin.read().at(0).at("classes").at(0).at("count"), 1);
  }
}

}  // namespace
}  // namespace detccl::test
