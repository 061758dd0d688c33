// SPDX-License-Identifier: Apache-2.0
// Proofs for thousands of ranks, each within a minute. Prints how long they take.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

#include "plan/prover.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

class ProveLarge : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ProveLarge, EverySchedule) {
  using Seconds = std::chrono::duration<double>;
  for (const Schedule& schedule : {Schedule::gather, Schedule::direct, Schedule::ring, Schedule::tree,
                                   Schedule::halving, hier(Kind::direct, Kind::halving, 8)}) {
    for (const Collective collective : kCollectives) {
      Spec spec;
      spec.schedule = schedule;
      spec.collective = collective;
      const std::uint32_t block = collective == Collective::reduce_scatter ? 8 : 0;
      const auto order = schedule.kind == Kind::ring ? contract::Order::linear : contract::Order::tree;
      spec.contract = {order, contract::Accumulate::wide, block};
      spec.ranks = GetParam();
      spec.root = spec.ranks / 3;
      spec.count = collective == Collective::reduce_scatter ? 7000 : std::uint64_t{16} << 20;
      spec.stride = collective == Collective::reduce_scatter ? spec.count : 0;
      const bool in_place = collective != Collective::reduce;

      const auto start = std::chrono::steady_clock::now();
      const Proof proof = prove(spec, in_place);
      const Seconds time = std::chrono::steady_clock::now() - start;
      EXPECT_TRUE(proof.proved) << describe(spec) << ": " << proof.failure;
      EXPECT_LT(time.count(), 60.0) << describe(spec);
      std::cout << describe(spec) << ": " << time.count() << " s\n";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ProveLarge, ::testing::Values(256, 1000, 2432, 4096),
                         [](const auto& test) { return "n" + std::to_string(test.param); });

}  // namespace
}  // namespace detccl::plan::testing
