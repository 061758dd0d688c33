// SPDX-License-Identifier: Apache-2.0
// What a communicator does with plans that are wrong, over in-process queues.
#include "nccl_api/lane.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "nccl_api/last_error.h"
#include "nccl_api/run.h"
#include "transport/loop/loop_fabric.h"

namespace detccl::nccl_api {
namespace {

/// A plan that leaves out its last fold.
plan::Program broken(const plan::Spec& spec, std::uint32_t rank) {
  plan::Program program = plan::build(spec, rank);
  for (auto stage = program.stages.rbegin(); stage != program.stages.rend(); ++stage) {
    if (stage->folds.empty()) continue;
    stage->folds.pop_back();
    break;
  }
  return program;
}

struct Ended {
  ncclResult_t result;
  std::vector<float> data;
  std::string error;
  ncclResult_t state;
};

/// Two ranks' all_reduce of ones, with plans from `source`, each proved.
std::vector<Ended> run_two(const engine::PlanSource& source) {
  transport::LoopFabric fabric(2);
  engine::Settings settings;
  settings.prove = true;
  std::vector<Ended> ended(2);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto communicator = std::make_shared<Communicator>(nullptr, static_cast<int>(rank), 2, true);
      communicator->set_shadow(std::make_unique<Shadow>(fabric.exchange(rank), settings, source));
      std::vector<float>& data = ended[rank].data;
      data.assign(100, 1.0f);
      std::vector<std::unique_ptr<Lane>> lanes;
      lanes.push_back(std::make_unique<Lane>(communicator));
      lanes[0]->push({.call = {.send = data.data(), .receive = data.data(), .count = data.size()}});
      ended[rank].result = run(lanes);
      const char* text = last_error();
      ended[rank].error = text != nullptr ? text : "";
      ended[rank].state = communicator->error();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return ended;
}

TEST(Lane, ProvedPlansRun) {
  for (const Ended& e : run_two(plan::build)) {
    EXPECT_EQ(e.result, ncclSuccess);
    EXPECT_EQ(e.data, std::vector<float>(100, 2.0f));
  }
}

TEST(Lane, APlanThatFailsItsProofIsNeverRun) {
  for (const Ended& e : run_two(broken)) {
    EXPECT_EQ(e.result, ncclInternalError);
    EXPECT_EQ(e.data, std::vector<float>(100, 1.0f)) << "nothing was written";
    EXPECT_NE(e.error.find("fails its proof"), std::string::npos) << e.error;
    EXPECT_EQ(e.state, ncclInternalError) << "the communicator is in error";
  }
}

}  // namespace
}  // namespace detccl::nccl_api
