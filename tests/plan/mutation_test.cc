// SPDX-License-Identifier: Apache-2.0
// The prover rejects every mutant of every kind, and says where.
#include <gtest/gtest.h>

#include <string>

#include "mutations.h"
#include "plan/prover.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMutants = 50;
#else
constexpr int kMutants = 1000;
#endif

class Mutate : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutate, IsRejected) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  int mutants = 0;
  for (int tries = 0; mutants < kMutants; ++tries) {
    ASSERT_LT(tries, 100 * kMutants) << "applied " << mutants << " times only";
    Plan plan{random_spec(random, 24), coin(random), {}};
    plan.programs = build_all(plan.spec);
    const Plan original = plan;
    if (!GetParam().apply(plan, random)) continue;
    ++mutants;
    SCOPED_TRACE(describe(original.spec) + (plan.in_place ? ", in place" : ""));
    const Proof before = prove(original.spec, original.programs, original.in_place);
    ASSERT_TRUE(before.proved) << before.failure;
    const Proof after = prove(plan.spec, plan.programs, plan.in_place);
    ASSERT_FALSE(after.proved);
    ASSERT_FALSE(after.failure.empty());
    ASSERT_EQ(after.failure.find('\n'), std::string::npos);
  }
}

std::string name_of(const ::testing::TestParamInfo<Mutation>& test) {
  return std::string(test.param.name);
}

INSTANTIATE_TEST_SUITE_P(Folds, Mutate, ::testing::ValuesIn(fold_mutations()), name_of);
INSTANTIATE_TEST_SUITE_P(Transfers, Mutate, ::testing::ValuesIn(transfer_mutations()), name_of);
INSTANTIATE_TEST_SUITE_P(Regions, Mutate, ::testing::ValuesIn(region_mutations()), name_of);

}  // namespace
}  // namespace detccl::plan::testing
