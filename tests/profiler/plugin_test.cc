// SPDX-License-Identifier: Apache-2.0
// The plugin as NCCL of each version drives it, and as no NCCL should.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "nccl_side.h"

namespace detccl::test {
namespace {

using nlohmann::json;
template <int V>
using Number = std::integral_constant<int, V>;

// As compiled from NCCL's own headers.
static_assert(offsetof(abi::Event1, collective.datatype) == 84 &&
              offsetof(abi::Event1, collective.channels) == 104);
static_assert(offsetof(abi::Event2, collective.datatype) == 88 &&
              offsetof(abi::Event2, collective.algorithm) == 112);
static_assert(offsetof(abi::Event3, collective.channels) == 96 &&
              offsetof(abi::Event3, point_to_point.peer) == 72);
static_assert(offsetof(abi::Event4, collective.algorithm) == 88 &&
              offsetof(abi::Event4, kernel_channel.timer) == 32);
static_assert(offsetof(abi::Event5, collective.group) == 104 &&
              offsetof(abi::Event6, copy_collective.stream) == 104);

template <class N>
class EveryVersion : public testing::Test {};
using Versions = testing::Types<Number<1>, Number<2>, Number<3>, Number<4>, Number<5>, Number<6>>;
TYPED_TEST_SUITE(EveryVersion, Versions);

json only_class(const json& summary) {
  EXPECT_EQ(summary.at("classes").size(), 1u) << summary;
  return summary.at("classes").at(0);
}

TYPED_TEST(EveryVersion, CountsCallsAndTimesThem) {
  constexpr int V = TypeParam::value;
  Plugin plugin("all");
  Nccl<V> nccl(plugin);
  void* context = nccl.init(0xabc0 + V, 3, 8);
  ASSERT_NE(context, nullptr);
  for (std::uint64_t i = 0; i < 5000; ++i)
    nccl.all_reduce(context, {.gpu_began = 1'000'000 + i * 10'000, .gpu_nanoseconds = 5000});
  nccl.finalize(context);
  const auto summaries = plugin.read();
  ASSERT_EQ(summaries.size(), 1u);
  const json& s = summaries.front();
  EXPECT_EQ(s.at("format"), "detccl-profile-1");
  EXPECT_EQ(s.at("interface"), V);
  EXPECT_EQ(s.at("rank"), 3);
  EXPECT_EQ(s.at("ranks"), V >= 4 ? 8 : 0);
  EXPECT_EQ(s.at("communicator"), "000000000000abc" + std::to_string(V));
  EXPECT_EQ(s.at("name"), "world");
  EXPECT_EQ(s.at("dropped"), 0);
  EXPECT_EQ(s.at("groups").at("count"), 5000);
  const json c = only_class(s);
  EXPECT_EQ(c.at("function"), "AllReduce");
  EXPECT_EQ(c.at("datatype"), "ncclFloat32");
  EXPECT_EQ(c.at("algorithm"), "RING");
  EXPECT_EQ(c.at("protocol"), "SIMPLE");
  EXPECT_EQ(c.at("count"), 5000);
  EXPECT_EQ(c.at("bytes"), 5000u * 4096u);
  EXPECT_EQ(c.at("doubling"), 13);
  EXPECT_EQ(c.at("network").at("count"), 5000);
  ASSERT_EQ(c.contains("gpu"), V >= 3);  // the event came with version 3, the GPU's clock with 4
  if (V >= 3) {
    EXPECT_EQ(c.at("gpu").at("count"), 5000);
  }
  if (V >= 4) {
    EXPECT_EQ(c.at("gpu").at("min_ns"), 5100);  // two channels, 100 ns apart
    EXPECT_EQ(c.at("gpu").at("max_ns"), 5100);
  }
}

TYPED_TEST(EveryVersion, AsksForTheFewestEvents) {
  constexpr int V = TypeParam::value;
  const auto mask = [](const char* events) {
    Plugin plugin(events);
    Nccl<V> nccl(plugin);
    nccl.finalize(nccl.init(1, 0, 2));
    EXPECT_TRUE(plugin.read().empty());  // nothing happened
    return static_cast<unsigned>(nccl.mask);
  };
  EXPECT_EQ(mask("off"), 0u);
  EXPECT_EQ(mask("calls"), abi::collective | abi::point_to_point);
  EXPECT_EQ(mask(""), abi::collective | abi::point_to_point | abi::proxy_operation);  // not set
  EXPECT_EQ(mask("kernels"), abi::collective | abi::point_to_point | abi::kernel_channel);
  EXPECT_EQ(mask("nonsense"), abi::collective | abi::point_to_point | abi::proxy_operation);
}

TYPED_TEST(EveryVersion, FinalizesInAnyOrderAndIgnoresWhatComesLate) {
  constexpr int V = TypeParam::value;
  Plugin plugin("all");
  Nccl<V> other(plugin), nccl(plugin);
  void* first = other.init(1, 0, 2);
  void* second = nccl.init(2, 0, 2);
  const Call call{.gpu_began = 10, .gpu_nanoseconds = 10};
  void* operation = other.launch(first, call);
  nccl.finalize(first);
  nccl.progress(first, operation, call);   // the communicator is gone
  nccl.progress(second, operation, call);  // another one's operation
  nccl.all_reduce(second, call);
  nccl.finalize(first);
  nccl.finalize(second);
  nccl.stop(operation);
  const auto summaries = plugin.read();
  ASSERT_EQ(summaries.size(), 2u);
  for (const json& s : summaries) {
    const json c = only_class(s);
    EXPECT_EQ(c.at("count"), 1);
    EXPECT_EQ(c.value("network", json{{"count", 0}}).at("count"),
              s.at("communicator") == "0000000000000001" ? 0 : 1);
  }
}

TYPED_TEST(EveryVersion, TakesWhatNoNcclShouldSend) {
  constexpr int V = TypeParam::value;
  Plugin plugin("all");
  Nccl<V> nccl(plugin);
  EXPECT_EQ(nccl.start(nullptr, Nccl<V>::event(abi::collective)), nullptr);
  EXPECT_EQ(nccl.start(reinterpret_cast<void*>(0x7fffdeadbeef), Nccl<V>::event(abi::collective)), nullptr);
  void* context = nccl.init(1, 0, 2, nullptr);
  EXPECT_EQ(nccl.start(context, Nccl<V>::event(0x80)),
            nullptr);  // kinds that it did not ask for, or does not know
  EXPECT_EQ(nccl.start(context, Nccl<V>::event(0)), nullptr);
  if (V >= 5) {
    EXPECT_EQ(nccl.start(context, Nccl<V>::event(1u << 20)), nullptr);
  }
  void* bare = nccl.start(context, Nccl<V>::event(abi::point_to_point));  // no texts at all
  ASSERT_NE(bare, nullptr);
  nccl.record(bare, 22);
  nccl.record(bare, 4711);
  nccl.stop(bare);
  nccl.stop(bare);
  void* orphan = nccl.start(context, Nccl<V>::event(abi::proxy_operation));  // its parent could not be kept
  nccl.stop(orphan);
  for (const std::uintptr_t garbage :
       {std::uintptr_t{1}, std::uintptr_t{0x7fffdeadbeef}, ~std::uintptr_t{0}}) {
    nccl.record(reinterpret_cast<void*>(garbage), 22);
    nccl.stop(reinterpret_cast<void*>(garbage));
  }
  nccl.finalize(nullptr);
  nccl.finalize(context);
  const auto summaries = plugin.read();
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(only_class(summaries.front()).at("bytes"), 0);
}

TYPED_TEST(EveryVersion, LeavesOtherProcessesParentsAlone) {
  constexpr int V = TypeParam::value;
  Plugin plugin("network");
  Nccl<V> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  const Call call{.pid = getpid() + 1};
  // The same number means another operation there.
  nccl.progress(context, nccl.launch(context, call), call);
  nccl.finalize(context);
  EXPECT_FALSE(only_class(plugin.read().at(0)).contains("network"));
}

TEST(Plugin, KeepsParentsForLateChildren) {
  Plugin plugin("kernels");
  Nccl<6> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  const Call call{.gpu_began = 10, .gpu_nanoseconds = 1000};
  std::vector<void*> operations;
  for (int i = 0; i < 8000; ++i)
    operations.push_back(nccl.launch(context, call));
  for (void* operation : operations)
    nccl.progress(context, operation, call);
  nccl.finalize(context);
  EXPECT_EQ(only_class(plugin.read().at(0)).at("gpu").at("count"), 8000);
}

TEST(Plugin, SaysWhatItCouldNotKeep) {
  Plugin plugin("calls");
  Nccl<6> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  std::size_t kept = 0, lost = 0;
  for (; lost < 10; nccl.start(context, Nccl<6>::event(abi::point_to_point)) != nullptr ? ++kept : ++lost) {
    ASSERT_LT(kept, std::size_t{1} << 20);
  }
  nccl.finalize(context);
  const json s = plugin.read().at(0);
  EXPECT_EQ(s.at("dropped"), 10);
  EXPECT_EQ(only_class(s).at("count"), kept);
}

TEST(Plugin, IsThereAgainAfterNcclClosedIt) {
  Plugin plugin("calls");
  Nccl<5> nccl(plugin);
  nccl.finalize(nccl.init(1, 0, 2));
  plugin.close();
  void* context = nccl.init(2, 0, 2);
  nccl.all_reduce(context, {});
  nccl.finalize(context);
  EXPECT_EQ(plugin.read().size(), 1u);
}

TEST(Plugin, WritesWhatIsLeftWhenTheProcessEnds) {
  Plugin plugin("calls");
  const pid_t child = fork();
  if (child == 0) {
    Nccl<6> nccl(plugin);
    nccl.all_reduce(nccl.init(1, 0, 2), {});
    std::exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(only_class(plugin.read().at(0)).at("count"), 1);
}

TEST(Plugin, WritesWhileItRunsAndCountsLateChildrenOnce) {
  setenv("DETCCL_PROFILER_PERIOD", "1", 1);
  Plugin plugin("kernels");
  Nccl<6> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  const Call call{.gpu_began = 10, .gpu_nanoseconds = 1000};
  void* late = nccl.launch(context, {.channels = 2, .gpu_began = 10, .gpu_nanoseconds = 1000});
  nccl.all_reduce(context, call);
  unsetenv("DETCCL_PROFILER_PERIOD");
  EXPECT_TRUE(plugin.read().empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  nccl.launch(context, call);
  ASSERT_EQ(plugin.read().size(), 1u);
  EXPECT_EQ(only_class(plugin.read().at(0)).at("count"), 3);
  EXPECT_EQ(only_class(plugin.read().at(0)).at("gpu").at("count"), 1);
  nccl.progress(context, late, call);
  nccl.finalize(context);
  ASSERT_EQ(plugin.read().size(), 1u);
  EXPECT_EQ(only_class(plugin.read().at(0)).at("gpu").at("count"), 2);
}

TEST(Plugin, AFolderThatCannotBeWrittenStopsNothing) {
  Plugin plugin("calls");
  std::ofstream(plugin.summaries()) << "not a folder";
  Nccl<6> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  nccl.all_reduce(context, {});
  nccl.finalize(context);
}

TEST(Plugin, CostsLittle) {
  Plugin plugin("calls");
  Nccl<6> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  constexpr int kCalls = 200'000;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls / 5; ++i)
      nccl.launch(context, {});
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / (kCalls / 5));
  }
  nccl.finalize(context);
  std::printf("%.0f ns for all events of a call\n", best);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(best, 500'000);
#else
  EXPECT_LT(best, 20'000) << "1 us is what it should cost, on a machine with nothing else to do";
#endif
}

}  // namespace
}  // namespace detccl::test
