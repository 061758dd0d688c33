// SPDX-License-Identifier: Apache-2.0
// Every schedule, collective and contract is proved for every number of ranks up to 128, halving and hier,
// whose plans depend on n the most, up to 256.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "plan/prover.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t kMostRanks = 32, kMostHalved = 32;
#else
constexpr std::uint32_t kMostRanks = 128, kMostHalved = 256;
#endif
constexpr std::uint32_t kAllVariants = 20;  ///< up to here, every count with every root and both placements

constexpr std::uint32_t kAllContracts = 64;  ///< halving and hier: up to here, every contract

/// None, one, fewer than n, n, not divisible, long enough for aligned shards.
std::vector<std::uint64_t> counts(std::uint32_t n) {
  return {0, 1, n / 2 + 1, n, 3 * n + 1, 100 * n + 17};
}

class ProveAll : public ::testing::TestWithParam<std::tuple<Schedule, Collective>> {};

void expect_proved(const Spec& spec, bool in_place) {
  const Proof proof = prove(spec, in_place);
  ASSERT_TRUE(proof.proved) << describe(spec) << (in_place ? ", in place" : "") << ": " << proof.failure;
}

TEST_P(ProveAll, AnyNumberOfRanks) {
  Spec spec;
  std::tie(spec.schedule, spec.collective) = GetParam();
  std::uint64_t variant = 0;  // beyond kAllVariants ranks each spec gets one, in turn
  const bool halved = spec.schedule.kind == Kind::halving || spec.schedule.kind == Kind::hier;
  for (std::uint32_t n = 1; n <= (halved ? kMostHalved : kMostRanks); ++n) {
    std::vector<contract::Contract> contracts = contracts_of(spec.schedule);
    if (halved && n > kAllContracts) contracts = {contracts[n % contracts.size()]};
    for (const auto& contract : contracts) {
      spec.contract = contract;
      spec.ranks = n;
      const auto list = counts(n);
      const std::uint32_t roots = spec.collective == Collective::reduce ? n : 1;
      const std::uint64_t variants = list.size() * roots * 2;
      const std::uint64_t first = n <= kAllVariants ? 0 : (variant += 7) % variants;
      const std::uint64_t end = n <= kAllVariants ? variants : first + 1;
      for (std::uint64_t v = first; v < end; ++v) {
        spec.count = list[v / 2 % list.size()];
        spec.root = static_cast<std::uint32_t>(v / 2 / list.size());
        spec.stride = spec.collective == Collective::reduce_scatter ? spec.count + v / 4 % 3 : 0;
        ASSERT_NO_FATAL_FAILURE(expect_proved(spec, v % 2 == 1));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , ProveAll, ::testing::Combine(::testing::ValuesIn(kSchedules), ::testing::ValuesIn(kCollectives)),
    [](const auto& test) {
      return test_name(std::get<0>(test.param)) + "_" + std::string(name(std::get<1>(test.param)));
    });

}  // namespace
}  // namespace detccl::plan::testing
