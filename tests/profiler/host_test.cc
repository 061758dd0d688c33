// SPDX-License-Identifier: Apache-2.0
// DetCCL's reductions on host memory as the plugin and NVTX tools see them, in processes over hostnccl.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "detccl/detccl.h"
#include "nccl_api/ranks.h"
#include "support/command.h"

namespace detccl::test {
namespace {

using nlohmann::json;

constexpr std::size_t kCount = 1000;

/// Values whose sum is another one in another order.
std::vector<float> values(int rank, int call, std::size_t count) {
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<float>(
        (static_cast<std::size_t>(rank) * 7919 + i * 31 + static_cast<std::size_t>(call)) % 1013);
    v[i] = (n - 506.0f) * (rank % 2 == 0 ? 1e-3f : 1e5f);
  }
  return v;
}

/// All ranks' summaries by rank: those of DetCCL's own, or of NCCL's communicator.
std::vector<json> summaries(const std::string& folder, bool ours, std::size_t ranks) {
  std::vector<json> found(ranks);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    json summary = json::parse(file);
    if ((summary.at("name") == "DetCCL") == ours) found.at(summary.at("rank").get<std::size_t>()) = summary;
  }
  return found;
}

const json& class_of(const json& summary, const std::string& function) {
  for (const json& c : summary.at("classes")) {
    if (c.at("function") == function) return c;
  }
  throw std::runtime_error("no " + function + " in " + summary.dump());
}

class Host : public testing::Test {
 protected:
  RunOptions options(const Variables& more = {}) const {
    Variables all{{"NCCL_PROFILER_PLUGIN", DETCCL_PROFILER},
                  {"DETCCL_PROFILER_DIR", folder_.file("summaries")},
                  {"DETCCL_PROFILER_EVENTS", "kernels"}};
    for (const auto& [name, value] : more)
      all[name] = value;
    return {.environment = all, .rank_environment = {}, .seconds = 240};
  }
  std::vector<json> ours(std::size_t ranks) const {
    return summaries(folder_.file("summaries"), true, ranks);
  }
  std::vector<json> native(std::size_t ranks) const {
    return summaries(folder_.file("summaries"), false, ranks);
  }

  Folder folder_;
};

void all_reduce(Rank& rank, ncclComm_t comm, int call, std::size_t count = kCount) {
  std::vector<float> data = values(rank.rank(), call, count);
  require(ncclAllReduce(data.data(), data.data(), count, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
          "ncclAllReduce");
}

TEST_F(Host, CallsTimesPhasesAndStepsAreTold) {
  const RunResult result = run_ranks(2, options(), [](Rank& rank) {
    ncclComm_t comm = rank.communicator();
    all_reduce(rank, comm, 0);  // before the first step
    for (int step = 0; step < 4; ++step) {
      detcclMarkStep(static_cast<unsigned>(step));
      detcclMarkStep(static_cast<unsigned>(step));  // as of another thread
      for (int call = 0; call < 3; ++call)
        all_reduce(rank, comm, call, 100'000);
    }
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  ASSERT_TRUE(result.ok()) << result.report();
  for (const json& s : ours(2)) {
    ASSERT_EQ(s.at("classes").size(), 2u) << s;
    const json &before = s.at("classes").at(0), &c = s.at("classes").at(1);
    EXPECT_EQ(before.at("count"), 1);
    EXPECT_FALSE(before.contains("in_steps"));
    EXPECT_EQ(c.at("count"), 12);
    EXPECT_EQ(c.at("in_steps"), 9) << "the last step has not ended";
    EXPECT_EQ(c.at("algorithm"), "detccl");
    EXPECT_EQ(c.at("gpu").at("count"), 12);
    const json& phases = c.at("phases");
    EXPECT_GT(phases.at("fold_ns"), 0);
    EXPECT_GT(phases.at("transfer_ns"), 0);
    const auto sum = phases.at("fold_ns").get<double>() + phases.at("transfer_ns").get<double>() +
                     phases.at("wait_ns").get<double>();
    EXPECT_NEAR(sum, c.at("gpu").at("sum_ns").get<double>(), 0.001 * sum) << "they are all of the time";
    EXPECT_EQ(s.at("steps").at("count"), 3);
  }
  const Outcome report = run(DETCCL_BINARY " overhead " + folder_.file("summaries"));
  EXPECT_NE(report.output.find("  3 steps of "), std::string::npos) << report.output;
  EXPECT_NE(report.output.find("  transfer "), std::string::npos) << report.output;
}

TEST_F(Host, HostncclTellsThePluginOfItsOwn) {
  const RunResult result = run_ranks(2, options({{"DETCCL_DISABLE", "1"}}), [](Rank& rank) {
    ncclComm_t comm = rank.communicator();
    for (int call = 0; call < 5; ++call)
      all_reduce(rank, comm, call);
    float value = 1;
    const int peer = 1 - rank.rank();
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    require(ncclSend(&value, 1, ncclFloat32, peer, comm, nullptr), ncclSuccess, "ncclSend");
    float got = 0;
    require(ncclRecv(&got, 1, ncclFloat32, peer, comm, nullptr), ncclSuccess, "ncclRecv");
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  ASSERT_TRUE(result.ok()) << result.report();
  const auto all = native(2);
  EXPECT_EQ(all[0].at("communicator"), all[1].at("communicator"));
  for (const json& s : all) {
    EXPECT_EQ(s.at("ranks"), 2);
    EXPECT_EQ(class_of(s, "AllReduce").at("count"), 5);
    EXPECT_EQ(class_of(s, "AllReduce").at("gpu").at("count"), 5);
    EXPECT_EQ(class_of(s, "AllReduce").at("algorithm"), "RING");
    EXPECT_EQ(class_of(s, "Send").at("gpu").at("count"), 1);
    EXPECT_EQ(class_of(s, "Recv").at("count"), 1);
  }
}

/// Every kind of reduction, in and out of place; the results, one after the other, to the test.
void reduce_in_all_ways(Rank& rank) {
  ncclComm_t comm = rank.communicator();
  const auto n = static_cast<std::size_t>(rank.size());
  std::vector<float> results;
  const auto keep = [&results](const std::vector<float>& v) {
    results.insert(results.end(), v.begin(), v.end());
  };
  ncclRedOp_t scaled{};
  float factor = 0.3f;
  require(ncclRedOpCreatePreMulSum(&scaled, &factor, ncclFloat32, ncclScalarHostImmediate, comm), ncclSuccess,
          "ncclRedOpCreatePreMulSum");
  for (int call = 0; call < 8; ++call) {
    const std::vector<float> input = values(rank.rank(), call, kCount * n);
    const std::vector<float> before = input;
    std::vector<float> out(kCount), shard(kCount), in_place = input, at_root(kCount);
    require(ncclAllReduce(input.data(), out.data(), kCount, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
            "AllReduce");
    require(ncclReduceScatter(input.data(), shard.data(), kCount, ncclFloat32, ncclSum, comm, nullptr),
            ncclSuccess, "ReduceScatter");
    require(
        ncclReduceScatter(in_place.data(), in_place.data() + static_cast<std::size_t>(rank.rank()) * kCount,
                          kCount, ncclFloat32, ncclAvg, comm, nullptr),
        ncclSuccess, "ReduceScatter in place");
    require(ncclReduce(input.data(), rank.rank() == 1 ? at_root.data() : nullptr, kCount, ncclFloat32,
                       ncclSum, 1, comm, nullptr),
            ncclSuccess, "Reduce");
    require(input == before, "the input was written to");
    require(ncclAllReduce(out.data(), out.data(), kCount, ncclFloat32, scaled, comm, nullptr), ncclSuccess,
            "AllReduce in place");
    keep(out);
    keep(shard);
    keep(in_place);
    keep(at_root);
  }
  require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  // Digests, by FNV-1a: the results themselves would not fit.
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const float value : results) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    digest = (digest ^ bits) * 0x100000001b3u;
  }
  std::memcpy(rank.memory() + static_cast<std::size_t>(rank.rank()) * sizeof digest, &digest, sizeof digest);
}

TEST_F(Host, SamplingLeavesBitsAsTheyAre) {
  const RunResult without = run_ranks(3, options({{"DETCCL_PROFILER_EVENTS", "off"}}), reduce_in_all_ways);
  ASSERT_TRUE(without.ok()) << without.report();
  for (const char* every : {"1", "3"}) {
    const Folder folder;
    const RunResult with =
        run_ranks(3, options({{"DETCCL_PROFILER_SHADOW", every}, {"DETCCL_PROFILER_DIR", folder.file("s")}}),
                  reduce_in_all_ways);
    ASSERT_TRUE(with.ok()) << with.report();
    EXPECT_EQ(with.memory, without.memory) << every;
    std::set<std::uint64_t> sampled;
    for (const json& s : summaries(folder.file("s"), true, 3)) {
      std::uint64_t pairs = 0, calls = 0, measured = 0;
      for (const json& c : s.at("classes")) {
        calls += c.at("count").get<std::uint64_t>();
        if (c.contains("pairs")) pairs += c.at("pairs").at("count").get<std::uint64_t>();
        if (c.contains("gpu")) measured += c.at("gpu").at("count").get<std::uint64_t>();
      }
      EXPECT_EQ(calls, 40u);
      if (*every == '1')
        EXPECT_EQ(pairs, 40u);
      else
        EXPECT_TRUE(pairs == 13 || pairs == 14) << pairs;
      sampled.insert(pairs);
      EXPECT_EQ(measured, calls - pairs);
      EXPECT_FALSE(s.contains("not_paired")) << s;
    }
    // All ranks the same ones, and NCCL has seen as many reductions: those of the samples.
    ASSERT_EQ(sampled.size(), 1u);
    for (const json& s : summaries(folder.file("s"), false, 3)) {
      std::uint64_t native = 0;
      for (const json& c : s.at("classes")) {
        if (c.at("algorithm") == "RING") native += c.at("count").get<std::uint64_t>();
      }
      EXPECT_EQ(native, 2 * *sampled.begin()) << "one run to warm up, and one that counts";
    }
  }
}

TEST_F(Host, CalibrationIsTheSecondToSeventhCallOfEachClass) {
  const RunResult without = run_ranks(3, options({{"DETCCL_PROFILER_EVENTS", "off"}}), reduce_in_all_ways);
  ASSERT_TRUE(without.ok()) << without.report();
  const Folder folder;
  const RunResult with =
      run_ranks(3, options({{"DETCCL_PROFILER_CALIBRATE", "6"}, {"DETCCL_PROFILER_DIR", folder.file("s")}}),
                reduce_in_all_ways);
  ASSERT_TRUE(with.ok()) << with.report();
  EXPECT_EQ(with.memory, without.memory) << "the bits";
  for (const json& s : summaries(folder.file("s"), true, 3)) {
    ASSERT_EQ(s.at("classes").size(), 3u) << s;
    for (const json& c : s.at("classes")) {
      EXPECT_EQ(c.at("calibration").at("count"), 6) << c;
      EXPECT_EQ(c.at("calibration").at("kept_ns").size(), 12u) << c;
      EXPECT_FALSE(c.contains("pairs")) << c;
      EXPECT_EQ(c.at("gpu").at("count"), c.at("count").get<int>() - 6) << c;
    }
    EXPECT_FALSE(s.contains("not_paired")) << s;
  }
  const Outcome report =
      run(DETCCL_BINARY " overhead " + folder.file("s") + " --json " + folder.file("report.json"));
  EXPECT_EQ(report.exit_code, 0) << report.output;
  std::size_t found = 0;
  for (std::size_t at = 0; (at = report.output.find("(calibration, 6 pairs)", at)) != std::string::npos; ++at)
    ++found;
  EXPECT_EQ(found, 3u) << report.output;
}

TEST_F(Host, CalibrationAmongGroupsAndShadowSamples) {
  const RunResult result = run_ranks(
      2, options({{"DETCCL_PROFILER_CALIBRATE", "8"}, {"DETCCL_PROFILER_SHADOW", "3"}}), [](Rank& rank) {
        ncclComm_t comm = rank.communicator();
        for (int round = 0; round < 3; ++round) {
          if (rank.rank() == 0) require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
          std::vector<std::vector<float>> data{values(rank.rank(), round, kCount),
                                               values(rank.rank(), 9, kCount)};
          for (auto& d : data)
            require(ncclAllReduce(d.data(), d.data(), kCount, ncclFloat32, ncclSum, comm, nullptr),
                    ncclSuccess, "ncclAllReduce");
          if (rank.rank() == 0) require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
        }
        for (int call = 0; call < 9; ++call)
          all_reduce(rank, comm, call);
        require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
      });
  ASSERT_TRUE(result.ok()) << result.report();
  const auto all = ours(2);
  for (const json& s : all) {
    const json& c = class_of(s, "AllReduce");
    EXPECT_EQ(c.at("pairs").at("count"), 3) << "of 9 calls alone";
    // Of the calls 2 to 9 five are in groups, and one of the others is a shadow sample.
    EXPECT_EQ(c.at("calibration").at("count"), 2) << c;
  }
  EXPECT_EQ(all[0].at("not_paired").at("grouped"), all[1].at("not_paired").at("elsewhere"));
}

TEST_F(Host, RanksThatGroupOtherwiseAgreeNotToSample) {
  const RunResult result = run_ranks(2, options({{"DETCCL_PROFILER_SHADOW", "2"}}), [](Rank& rank) {
    ncclComm_t comm = rank.communicator();
    for (int round = 0; round < 4; ++round) {
      // One rank groups its calls, the other does not: NCCL allows that.
      if (rank.rank() == 0) require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
      std::vector<std::vector<float>> data;
      for (int call = 0; call < 5; ++call)
        data.push_back(values(rank.rank(), call, kCount));
      for (auto& d : data)
        require(ncclAllReduce(d.data(), d.data(), kCount, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
                "ncclAllReduce");
      if (rank.rank() == 0) require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    }
    for (int call = 0; call < 4; ++call)
      all_reduce(rank, comm, call);
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  ASSERT_TRUE(result.ok()) << result.report();
  const auto all = ours(2);
  EXPECT_EQ(all[0].at("not_paired"), (json{{"grouped", 10}}));
  EXPECT_EQ(all[1].at("not_paired"), (json{{"elsewhere", 10}}));
  for (const json& s : all)
    EXPECT_EQ(class_of(s, "AllReduce").at("pairs").at("count"), 2);
}

TEST_F(Host, RanksMustSampleAlike) {
  RunOptions unlike = options();
  unlike.rank_environment = [](int rank) {
    return Variables{{"DETCCL_PROFILER_SHADOW", std::to_string(rank)}};
  };
  const RunResult result = run_ranks(2, unlike, [](Rank& rank) {
    ncclComm_t comm = nullptr;
    const ncclResult_t made = ncclCommInitRank(&comm, rank.size(), rank.unique_id(), rank.rank());
    require(made, ncclInvalidUsage, "ncclCommInitRank");
    const std::string text = ncclGetLastError(nullptr);
    require(text.find("DETCCL_PROFILER_SHADOW") != std::string::npos, text);
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST_F(Host, ToolsSeeThePhasesInADomainOfTheirOwn) {
  const RunResult result = run_ranks(2,
                                     options({{"NVTX_INJECTION64_PATH", NVTX_LISTENER},
                                              {"DETCCL_PROFILER_SHADOW", "4"},
                                              {"DETCCL_TRACE", "1"},
                                              {"DETCCL_TRACE_DIR", folder_.file("trace")}}),
                                     [](Rank& rank) {
                                       ncclComm_t comm = rank.communicator();
                                       for (int call = 0; call < 4; ++call)
                                         all_reduce(rank, comm, call);
                                       require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
                                     });
  ASSERT_TRUE(result.ok()) << result.report();
  const std::string& heard = result.error_output;
  EXPECT_NE(heard.find("nvtx: open 0 wrong 0"), std::string::npos) << heard;
  EXPECT_NE(heard.find("nvtx: DetCCL:AllReduce of 1000 float32 4\n"), std::string::npos) << heard;
  EXPECT_NE(heard.find("nvtx: DetCCL:native 2\n"), std::string::npos) << heard;
  EXPECT_NE(heard.find("nvtx: DetCCL:digest 8\n"), std::string::npos) << heard;
  for (const char* phase : {"transfer", "fold"})
    EXPECT_NE(heard.find(std::string("nvtx: DetCCL:") + phase + " "), std::string::npos) << heard;
}

TEST_F(Host, WithoutAToolOrAPluginNothingIsDone) {
  const RunResult result = run_ranks(
      2, {.environment = {{"DETCCL_PROFILER_SHADOW", "2"}}, .rank_environment = {}}, [](Rank& rank) {
        ncclComm_t comm = rank.communicator();
        for (int call = 0; call < 6; ++call)
          all_reduce(rank, comm, call);
        require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
      });
  EXPECT_TRUE(result.ok()) << result.report();
}

}  // namespace
}  // namespace detccl::test
