// SPDX-License-Identifier: Apache-2.0
// The caller's rounding mode, flushing of subnormals and traps change no bits, and are left as they were.
#include <array>
#include <cfenv>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "contract/reference.h"
#include "device/host/fold_isa.h"
#include "random_values.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace detccl::device::host {
namespace {

using contract::Accumulate;
using contract::DataType;
using contract::Op;
using contract::Order;
using plan::Form;

#if defined(__x86_64__)
using Environment = unsigned;
constexpr std::array<Environment, 6> kEnvironments = {
    0x9fc0,  // subnormals flushed, read as zero
    0x3f80,  // round down
    0x5f80,  // round up
    0x7f80,  // round toward zero
    0xffc0,  // toward zero, and flushing
    0x0000,  // every exception traps
};
Environment environment() {
  return _mm_getcsr() & ~0x3fU;
}  // without the flags of past exceptions
void set_environment(Environment e) {
  _mm_setcsr(e);
}
#else
using Environment = int;
constexpr std::array<Environment, 3> kEnvironments = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
Environment environment() {
  return std::fegetround();
}
void set_environment(Environment e) {
  std::fesetround(e);
}
#endif

/// Runs `work` in environment `e`, and says whether it left that as it was.
template <class Work>
bool run_in(Environment e, const Work& work) {
  const Environment before = environment();
  set_environment(e);
  work();
  const bool same = environment() == e;
  set_environment(before);
  return same;
}

void check(Random& random, const Arithmetic& a) {
  SCOPED_TRACE(std::string(name(a.type)) + " " + std::string(name(a.op)));
  constexpr std::size_t kCount = 300;
  std::vector<Bytes> inputs;
  std::vector<Operand> operands;
  std::vector<const void*> pointers;
  for (std::uint32_t i = 0; i < a.ranks; ++i)
    inputs.emplace_back(random, a.type, kCount);
  for (const Bytes& input : inputs) {
    operands.push_back({input.data(), Form::raw});
    pointers.push_back(input.data());
  }
  const contract::Contract contract{a.order, a.accumulate, 0};
  Bytes expected(random, kCount * contract::size_of(a.type));
  contract::reduce(contract, a.type, a.op, pointers, expected.data(), kCount, a.scalar);

  for (const Environment e : kEnvironments) {
    Bytes out(random, expected.size());
    EXPECT_TRUE(
        run_in(e, [&] { contract::reduce(contract, a.type, a.op, pointers, out.data(), kCount, a.scalar); }))
        << "reference, environment " << std::hex << e;
    EXPECT_TRUE(out.same(expected)) << "reference, environment " << std::hex << e;
    for (const Isa isa : isas()) {
      Bytes folded(random, expected.size());
      EXPECT_TRUE(run_in(e, [&] { fold_on(isa, a, operands, folded.data(), Form::final, kCount); }));
      EXPECT_TRUE(folded.same(expected))
          << "isa " << static_cast<int>(isa) << ", environment " << std::hex << e;
    }
  }
}

TEST(FloatEnvironment, TheCallersIsNotUsedAndNotChanged) {
  Random random(new_seed());
  for (int type = 0; type < contract::kDataTypes; ++type) {
    for (int op = 0; op < contract::kOps; ++op) {
      for (const Accumulate accumulate : {Accumulate::wide, Accumulate::native}) {
        const auto t = static_cast<DataType>(type);
        check(random, {t, static_cast<Op>(op), Order::tree, accumulate, 3, random_element(random, t)});
      }
    }
  }
}

}  // namespace
}  // namespace detccl::device::host
