// SPDX-License-Identifier: Apache-2.0
// Proofs of the schedules for thousands of ranks, each within ten minutes. Prints how long they take.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>

#include "plan/prover.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

constexpr Schedule kScaling[] = {Schedule::halving,
                                 hier(Kind::direct, Kind::halving, 8),
                                 hier(Kind::direct, Kind::halving, 8, 8),
                                 hier(Kind::direct, Kind::halving, 8, 32),
                                 hier(Kind::halving, Kind::halving, 8),
                                 hier(Kind::direct, Kind::direct, 8)};

/// Beyond this, shards that are apart in the input are too many transfers for a proof.
constexpr std::uint32_t kMostApart = 4096;

class ProveScale : public ::testing::TestWithParam<std::tuple<std::uint32_t, Schedule>> {};

void expect_proved(const Spec& spec, bool in_place) {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  const Proof proof = prove(spec, in_place);
  const Seconds time = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(proof.proved) << describe(spec) << ": " << proof.failure;
  EXPECT_LT(time.count(), 600.0) << describe(spec);
  std::cout << describe(spec) << (in_place ? ", in place: " : ": ") << time.count() << " s" << std::endl;
}

TEST_P(ProveScale, EveryCollective) {
  Spec spec;
  std::tie(spec.ranks, spec.schedule) = GetParam();
  spec.root = spec.ranks - 1;
  for (const char* contract : {"tree", "tree:native", "tree/8"}) {
    spec.contract = contract::parse_contract(contract).value();
    for (const Collective collective : kCollectives) {
      spec.collective = collective;
      const bool scatters = collective == Collective::reduce_scatter;
      spec.count = scatters ? 1000 : std::uint64_t{64} << 20;
      spec.stride = scatters ? spec.count : 0;
      expect_proved(spec, collective != Collective::reduce);
    }
  }
  if (spec.ranks > kMostApart) return;
  spec.collective = Collective::reduce_scatter;
  spec.stride = (spec.count = 1000) + 24;
  expect_proved(spec, true);
}

INSTANTIATE_TEST_SUITE_P(, ProveScale,
                         ::testing::Combine(::testing::Values(2432, 2437, 4096, 16384, 16385),
                                            ::testing::ValuesIn(kScaling)),
                         [](const auto& test) {
                           return "n" + std::to_string(std::get<0>(test.param)) + "_" +
                                  test_name(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace detccl::plan::testing
