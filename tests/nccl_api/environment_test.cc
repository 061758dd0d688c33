// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "plan/tuner/file.h"

namespace detccl::nccl_api {
namespace {

Environment read(const std::vector<std::string>& entries) {
  std::vector<const char*> pointers;
  for (const std::string& entry : entries)
    pointers.push_back(entry.c_str());
  pointers.push_back(nullptr);
  return Environment::read(pointers.data());
}

TEST(Environment, DefaultsAreThoseOfTheTable) {
  const Configuration unset = read({"PATH=/bin", "NCCL_DEBUG=INFO"}).configuration();
  for (const Variable& variable : Environment::variables()) {
    if (variable.default_value.empty()) continue;
    const Environment set = read({std::string(variable.name) + "=" + std::string(variable.default_value)});
    EXPECT_TRUE(set.problems().empty()) << variable.name;
    const Configuration& c = set.configuration();
    EXPECT_EQ(c.contract, unset.contract);
    EXPECT_EQ(c.schedule, unset.schedule);
    EXPECT_EQ(c.peer, unset.peer);
    EXPECT_EQ(c.peer_blocks, unset.peer_blocks);
    EXPECT_EQ(c.chunk_bytes, unset.chunk_bytes);
    EXPECT_EQ(c.log, unset.log);
    EXPECT_EQ(c.prove, unset.prove);
    EXPECT_EQ(c.disable, unset.disable);
    EXPECT_EQ(c.timeout, unset.timeout) << variable.name;
    EXPECT_EQ(c.scratch_bytes, unset.scratch_bytes);
    EXPECT_EQ(c.fallback_native, unset.fallback_native);
    EXPECT_EQ(c.trace, unset.trace);
    EXPECT_EQ(c.trace_folder, unset.trace_folder);
  }
}

TEST(Environment, ATuningFileIsReadAndItsMistakesAreNamed) {
  EXPECT_EQ(read({"DETCCL_TUNING="}).configuration().tuning, nullptr);
  const Environment none = read({"DETCCL_TUNING=/there/is/none"});
  EXPECT_EQ(none.problems(), std::vector<std::string>{"DETCCL_TUNING=/there/is/none cannot be read"});
  const std::string file = testing::TempDir() + "detccl-tuning-" + std::to_string(getpid());
  const std::string text = plan::tuner::write(plan::tuner::built_in("host"));
  std::ofstream(file) << text;
  const Environment good = read({"DETCCL_TUNING=" + file});
  EXPECT_TRUE(good.problems().empty());
  ASSERT_NE(good.configuration().tuning, nullptr);
  EXPECT_EQ(plan::tuner::hash(*good.configuration().tuning), plan::tuner::hash(plan::tuner::parse(text)));
  std::ofstream(file) << text << "overlap 2\n";
  const Environment bad = read({"DETCCL_TUNING=" + file});
  ASSERT_EQ(bad.problems().size(), 1u);
  EXPECT_EQ(bad.problems()[0].find("DETCCL_TUNING=" + file + ": line "), 0u) << bad.problems()[0];
  EXPECT_NE(bad.problems()[0].find("'overlap'"), std::string::npos) << bad.problems()[0];
  EXPECT_EQ(bad.configuration().tuning, nullptr);
  std::remove(file.c_str());
}

TEST(Environment, TakesWhatIsAllowed) {
  const Environment e =
      read({"DETCCL_CONTRACT=linear:native", "DETCCL_SCHEDULE=ring", "DETCCL_CHUNK=64K", "DETCCL_LOG=debug",
            "DETCCL_PROVE=1", "DETCCL_DISABLE=0", "DETCCL_NCCL_LIBRARY=/a/b=c.so", "DETCCL_TIMEOUT=0"});
  EXPECT_TRUE(e.problems().empty());
  const Configuration& c = e.configuration();
  EXPECT_EQ(contract::to_string(c.contract), "linear:native");
  EXPECT_EQ(c.schedule, plan::Schedule::ring);
  EXPECT_EQ(c.chunk_bytes, 65536u);
  EXPECT_EQ(c.log, LogLevel::debug);
  EXPECT_TRUE(c.prove);
  EXPECT_FALSE(c.disable);
  EXPECT_EQ(c.nccl_library, "/a/b=c.so");
  EXPECT_EQ(c.timeout, std::chrono::seconds(0));
  EXPECT_EQ(read({"DETCCL_CHUNK=3M"}).configuration().chunk_bytes, 3u << 20);
  EXPECT_TRUE(read({"DETCCL_CONTRACT="}).problems().empty()) << "empty counts as not set";
}

TEST(Environment, TakesLanes) {
  EXPECT_EQ(read({}).configuration().lanes, 1u);
  EXPECT_EQ(read({"DETCCL_LANES=4"}).configuration().lanes, 4u);
  for (const char* bad : {"DETCCL_LANES=0", "DETCCL_LANES=9", "DETCCL_LANES=auto"})
    EXPECT_EQ(read({bad}).problems().size(), 1u) << bad;
}

TEST(Environment, TakesTheScheduleOverPeerMemory) {
  const Configuration c = read({"DETCCL_SCHEDULE=peer", "DETCCL_PEER_BLOCKS=16"}).configuration();
  EXPECT_TRUE(c.peer);
  EXPECT_FALSE(c.schedule.has_value());
  EXPECT_EQ(c.peer_blocks, 16u);
  EXPECT_FALSE(read({"DETCCL_SCHEDULE=auto"}).configuration().peer);
  EXPECT_TRUE(read({"DETCCL_SCHEDULE=peer", "DETCCL_CONTRACT=linear:native"}).problems().empty());
  EXPECT_EQ(read({"DETCCL_SCHEDULE=peer", "DETCCL_CONTRACT=tree:wide/2"}).problems().size(), 1u);
  EXPECT_FALSE(read({"DETCCL_SCHEDULE=peer", "DETCCL_PEER_BLOCKS=auto"}).configuration().peer_blocks);
  EXPECT_EQ(read({"DETCCL_PEER_BLOCKS=0"}).configuration().peer_blocks, 0u);
  EXPECT_TRUE(read({"DETCCL_PEER_BLOCKS=0"}).problems().empty());
  EXPECT_EQ(read({"DETCCL_PEER_BLOCKS=0", "DETCCL_SCHEDULE=peer"}).problems().size(), 1u);
  EXPECT_EQ(read({"DETCCL_PEER_BLOCKS=64"}).configuration().peer_blocks, 64u);
  for (const char* bad : {"DETCCL_PEER_BLOCKS=65", "DETCCL_PEER_BLOCKS=-1", "DETCCL_PEER_BLOCKS=8K"})
    EXPECT_EQ(read({bad}).problems().size(), 1u) << bad;
}

TEST(Environment, TakesPeerMemoryWithinNodesAndPlansBetweenThem) {
  const auto take = [](const std::string& value) {
    const Environment e = read({"DETCCL_SCHEDULE=" + value});
    EXPECT_TRUE(e.problems().empty()) << value;
    EXPECT_EQ(schedule_name(e.configuration()), value);
    return e.configuration();
  };
  Configuration c = take("hier(peer,halving)");
  EXPECT_FALSE(c.peer);
  EXPECT_EQ(c.rails, plan::Schedule::halving);
  EXPECT_EQ(c.schedule, plan::hier(plan::Kind::direct, plan::Kind::halving, 0));
  c = take("hier(peer,halving:8)/4");
  EXPECT_EQ(c.rails, plan::halving_by(8));
  EXPECT_EQ(c.schedule, plan::hier(plan::Kind::direct, plan::Kind::halving, 4, 8));
  c = take("hier(peer,gather)/2");
  EXPECT_EQ(c.rails, plan::Schedule::gather);
  EXPECT_EQ(c.schedule, plan::hier(plan::Kind::direct, plan::Kind::direct, 2));
  for (const char* other :
       {"peer", "auto", "gather", "halving:8", "hier(direct,direct)", "hier(direct,halving:8)/8"})
    EXPECT_FALSE(take(other).rails) << other;
  for (const char* bad : {"hier(peer)", "hier(peer,)", "hier(peer,ring)", "hier(peer,tree)",
                          "hier(peer,peer)", "hier(peer,direct", "hier(peer,direct)/3", "hier(peer,direct)/",
                          "hier(peer,halving:3)", "hier(direct,peer)", "hier(direct,gather)",
                          "hier(peer,hier(direct,direct)/2)/4", "hier(peer,direct))"}) {
    EXPECT_EQ(read({std::string("DETCCL_SCHEDULE=") + bad}).problems().size(), 1u) << bad;
  }
  const std::string schedule = "DETCCL_SCHEDULE=hier(peer,direct)";
  for (const char* contract : {"tree", "tree:native", "tree:wide/2", "tree:wide/64"})
    EXPECT_TRUE(read({schedule, std::string("DETCCL_CONTRACT=") + contract}).problems().empty()) << contract;
  const auto linear = read({schedule, "DETCCL_CONTRACT=linear"}).problems();
  ASSERT_EQ(linear.size(), 1u);
  EXPECT_EQ(linear[0].find("DETCCL_SCHEDULE=hier(peer,direct) cannot carry out DETCCL_CONTRACT=linear"), 0u);
  const auto without = read({schedule, "DETCCL_PEER_BLOCKS=0"}).problems();
  ASSERT_EQ(without.size(), 1u);
  EXPECT_EQ(without[0],
            "DETCCL_SCHEDULE=hier(peer,direct) needs blocks: DETCCL_PEER_BLOCKS=0 leaves them out");
}

TEST(Environment, TakesWhatTracesAndGpusAreTold) {
  const Configuration c =
      read({"DETCCL_TRACE=chunks:64", "DETCCL_TRACE_DIR=/a b", "DETCCL_TRACE_STEPS=100-120",
            "DETCCL_TRACE_RANKS=0,8-15", "DETCCL_SCRATCH=96M", "DETCCL_FALLBACK=native"})
          .configuration();
  EXPECT_TRUE(c.trace);
  EXPECT_EQ(c.trace_chunk_bytes, 64u << 10);
  EXPECT_FALSE(c.trace_times);
  EXPECT_EQ(c.trace_folder, "/a b");
  EXPECT_EQ(c.trace_steps, std::pair(100u, 120u));
  ASSERT_EQ(c.trace_ranks.size(), 2u);
  EXPECT_EQ(c.trace_ranks[0], std::pair(0u, 0u));
  EXPECT_EQ(c.trace_ranks[1], std::pair(8u, 15u));
  EXPECT_EQ(c.scratch_bytes, 96u << 20);
  EXPECT_TRUE(c.fallback_native);
  EXPECT_EQ(read({"DETCCL_TRACE_STEPS=7"}).configuration().trace_steps, std::pair(7u, 7u));
  EXPECT_FALSE(read({"DETCCL_TRACE=0"}).configuration().trace);
  const Configuration timed = read({"DETCCL_TRACE=times"}).configuration();
  EXPECT_TRUE(timed.trace);
  EXPECT_TRUE(timed.trace_times);
  EXPECT_EQ(timed.trace_chunk_bytes, 0u);
}

TEST(Environment, ABadValueIsToldWithWhatIsAllowed) {
  const std::vector<std::string> bad = {"DETCCL_CONTRACT=trees",
                                        "DETCCL_CONTRACT=Tree",
                                        "DETCCL_CONTRACT=tree:native/8",
                                        "DETCCL_SCHEDULE=fast",
                                        "DETCCL_CHUNK=0",
                                        "DETCCL_CHUNK=63",
                                        "DETCCL_CHUNK=1G",
                                        "DETCCL_CHUNK=-1",
                                        "DETCCL_CHUNK=1.5M",
                                        "DETCCL_CHUNK=K",
                                        "DETCCL_CHUNK=18446744073709551615K",
                                        "DETCCL_LOG=verbose",
                                        "DETCCL_PROVE=yes",
                                        "DETCCL_DISABLE=2",
                                        "DETCCL_TIMEOUT=-1",
                                        "DETCCL_TIMEOUT=1s",
                                        "DETCCL_TIMEOUT=99999999999",
                                        "DETCCL_SCRATCH=1K",
                                        "DETCCL_SCRATCH=17G",
                                        "DETCCL_FALLBACK=yes",
                                        "DETCCL_TRACE=2",
                                        "DETCCL_TRACE=time",
                                        "DETCCL_TRACE=chunks:",
                                        "DETCCL_TRACE=chunks:0",
                                        "DETCCL_TRACE_STEPS=5-4",
                                        "DETCCL_TRACE_STEPS=a-b",
                                        "DETCCL_TRACE_RANKS=1,,2",
                                        "DETCCL_TRACE_RANKS=1-",
                                        "DETCCL_PROFILER_SHADOW=often",
                                        "DETCCL_PROFILER_CALIBRATE=1M",
                                        "DETCCL_PROFILER_CALIBRATE=5",
                                        "DETCCL_PROFILER_CALIBRATE=129",
                                        "DETCCL_PROFILER_PHASES=-1",
                                        "DETCCL_PROFILER_PHASES=4294967296"};
  for (const std::string& entry : bad) {
    const Environment e = read({entry});
    ASSERT_EQ(e.problems().size(), 1u) << entry;
    const std::string name = entry.substr(0, entry.find('='));
    EXPECT_NE(e.problems()[0].find(name), std::string::npos);
    for (const Variable& variable : Environment::variables()) {
      if (variable.name == name) {
        EXPECT_NE(e.problems()[0].find(variable.syntax), std::string::npos) << e.problems()[0];
        EXPECT_TRUE(check_value(name, entry.substr(name.size() + 1)).has_value());
      }
    }
  }
}

TEST(Environment, AnUnknownNameIsToldWithTheNearest) {
  const Environment e = read({"DETCCL_CONTRAKT=tree", "DETCCL_TIME=3", "DETCCL=1", "OTHER_DETCCL_X=1"});
  ASSERT_EQ(e.problems().size(), 2u);
  EXPECT_NE(e.problems()[0].find("the nearest is DETCCL_CONTRACT"), std::string::npos) << e.problems()[0];
  EXPECT_NE(e.problems()[1].find("the nearest is DETCCL_TIMEOUT"), std::string::npos) << e.problems()[1];
}

TEST(Environment, ASchedulesThatCannotCarryOutTheContract) {
  EXPECT_EQ(read({"DETCCL_SCHEDULE=ring"}).problems().size(), 1u);
  EXPECT_EQ(read({"DETCCL_SCHEDULE=tree", "DETCCL_CONTRACT=linear"}).problems().size(), 1u);
  EXPECT_TRUE(read({"DETCCL_SCHEDULE=ring", "DETCCL_CONTRACT=linear"}).problems().empty());
  EXPECT_TRUE(read({"DETCCL_SCHEDULE=direct", "DETCCL_CONTRACT=linear"}).problems().empty());
}

}  // namespace
}  // namespace detccl::nccl_api
