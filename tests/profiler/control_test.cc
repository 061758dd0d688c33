// SPDX-License-Identifier: Apache-2.0
// What can be changed while the program runs.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>

#include "nccl_side.h"

namespace detccl::test {
namespace {

const Call kKernel{.gpu_began = 10, .gpu_nanoseconds = 1000};

class Control : public testing::Test {
 protected:
  Control() { setenv("DETCCL_PROFILER_PERIOD", "1", 1); }
  ~Control() override { unsetenv("DETCCL_PROFILER_PERIOD"); }

  static void write(const Plugin& plugin, const std::string& text) {
    std::filesystem::create_directories(plugin.summaries());
    std::ofstream(plugin.summaries() + "/control.new") << text;
    std::filesystem::rename(plugin.summaries() + "/control.new", plugin.summaries() + "/control");
  }
  /// Calls until it is so, or a minute is over.
  template <class N>
  static bool calls_until(N& nccl, void* context, const std::function<bool()>& so) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!so() && std::chrono::steady_clock::now() < limit)
      nccl.all_reduce(context, kKernel);
    return so();
  }
  static nlohmann::json summary(const Plugin& plugin) {
    for (const auto& entry : std::filesystem::directory_iterator(plugin.summaries())) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream file(entry.path());
      return nlohmann::json::parse(file);
    }
    throw std::runtime_error("no summary");
  }
};

TEST_F(Control, EventsChangeAndChangeBack) {
  Plugin plugin("calls");
  Nccl<6> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  EXPECT_FALSE(nccl.asks(abi::kernel_channel));
  write(plugin, "# more, for a while\nevents = kernels\n");
  ASSERT_TRUE(calls_until(nccl, context, [&] { return nccl.asks(abi::kernel_channel); }));
  nccl.all_reduce(context, kKernel);
  std::filesystem::remove(plugin.summaries() + "/control");
  ASSERT_TRUE(calls_until(nccl, context, [&] { return !nccl.asks(abi::kernel_channel); }));
  nccl.finalize(context);
  const auto s = summary(plugin);
  EXPECT_EQ(s.at("events"), "calls") << "the environment holds again";
  EXPECT_GT(s.at("classes").at(0).at("gpu").at("count"), 0);
}

TEST_F(Control, IsThereFromTheStart) {
  Plugin plugin("calls");
  write(plugin, "events=all\nperiod=0\n");
  Nccl<4> nccl(plugin);
  void* context = nccl.init(1, 0, 2);
  EXPECT_TRUE(nccl.asks(abi::kernel_channel | abi::proxy_operation));
  nccl.finalize(context);
}

TEST_F(Control, OffIsNotForEver) {
  for (const bool newest : {true, false}) {
    Plugin plugin("calls");
    Nccl<6> six(plugin);
    Nccl<3> three(plugin);
    const auto off_and_on = [&](auto& nccl) {
      void* context = nccl.init(1, 0, 2);
      write(plugin, "events = off");
      ASSERT_TRUE(calls_until(nccl, context, [&] { return !nccl.asks(abi::collective); }));
      EXPECT_TRUE(nccl.asks(abi::group)) << "or it would never hear of the next change";
      for (int i = 0; i < 10; ++i)
        nccl.all_reduce(context, kKernel);
      write(plugin, "events = calls");
      ASSERT_TRUE(calls_until(nccl, context, [&] { return nccl.asks(abi::collective); }));
      nccl.finalize(context);
    };
    newest ? off_and_on(six) : off_and_on(three);
  }
}

TEST_F(Control, WhatIsNotAllowedIsNamedAndIgnored) {
  Plugin plugin("calls");
  write(plugin, "events = everything\nperiod = soon\ncolour = red\n");
  Nccl<5> nccl(plugin);
  testing::internal::CaptureStderr();
  void* context = nccl.init(1, 0, 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("events='everything' is not allowed; allowed: off, calls, network, kernels, all"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("period='soon' is not allowed; allowed: whole seconds, 0 for never"), std::string::npos)
      << said;
  EXPECT_NE(said.find("'colour' is nothing that can be changed; events and period can"), std::string::npos)
      << said;
  EXPECT_EQ(static_cast<unsigned>(nccl.mask), abi::collective | abi::point_to_point);
  // The good lines of a file with a bad one count.
  write(plugin, "events = network\nevents = nothing\n");
  EXPECT_TRUE(calls_until(nccl, context, [&] { return nccl.asks(abi::proxy_operation); }));
  nccl.finalize(context);
}

}  // namespace
}  // namespace detccl::test
