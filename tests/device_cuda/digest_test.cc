// SPDX-License-Identifier: Apache-2.0
// Folds that take fingerprints: the bits of the reference evaluator, and the digests of what is in memory.
#include <cstring>
#include <optional>
#include <vector>

#include "contract/reference.h"
#include "fingerprint/digest.h"
#include "gpu_arena.h"
#include "recorder/cuda/device_ring.h"
#include "recorder/ring_reader.h"

namespace detccl::device::cuda {
namespace {

using contract::DataType;
using contract::Op;
using fingerprint::Sums;
using host::below;
using plan::Form;

class FoldDigest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_CUDA(load_kernels());
    arena_.emplace();
  }

  struct Case {
    Arithmetic arithmetic;
    std::vector<Array> inputs;
    Array result;
    std::uint64_t count = 0;
    std::vector<std::byte> expected;
  };

  /// Of about `bytes` bytes of each of `operands` operands; the result is operand `in_place`, or elsewhere if
  /// there is none.
  Case make(host::Random& random, Arithmetic a, std::size_t operands, std::uint64_t bytes,
            std::size_t in_place) {
    a.ranks = static_cast<std::uint32_t>(operands);
    const std::size_t size = contract::size_of(a.type);
    Case c{a, {}, {}, (bytes + 15) / 16 * 16 / size, {}};
    arena_->clear();
    for (std::size_t i = 0; i < operands; ++i)
      c.inputs.push_back(arena_->add(random, a.type, c.count, 0));
    c.result = in_place < operands ? c.inputs[in_place] : arena_->add(c.count * size, 0);
    std::vector<const void*> values;
    for (const Array& input : c.inputs)
      values.push_back(arena_->host(input));
    c.expected.resize(c.count * size);
    contract::reduce({a.order, a.accumulate, 0}, a.type, a.op, values, c.expected.data(), c.count, 0);
    return c;
  }

  std::vector<Operand> operands_of(const Case& c) {
    std::vector<Operand> operands;
    for (const Array& input : c.inputs)
      operands.push_back({arena_->gpu(input), Form::raw});
    return operands;
  }

  static Sums sums_of(const std::byte* data, std::size_t bytes) {
    Sums sums;
    fingerprint::add(sums, data, bytes, 0);
    return sums;
  }

  std::optional<GpuArena> arena_;
};

std::vector<Arithmetic> that_digest() {
  std::vector<Arithmetic> some;
  for (const Arithmetic& a : all_arithmetic()) {
    if (can_digest(a, 2)) some.push_back(a);
  }
  return some;
}

TEST_F(FoldDigest, DigestsAreAddedAndBitsAreTheReferences) {
  host::Random random(host::new_seed());
  constexpr std::size_t kSums = 17;
  void* memory = nullptr;
  ASSERT_CUDA(cudaMalloc(&memory, kSums * sizeof(PlacedSums)));
  auto* const sums = static_cast<PlacedSums*>(memory);
  const std::vector<Arithmetic> all = that_digest();
  ASSERT_FALSE(all.empty());
  for (const Arithmetic& a : all) {
    for (const std::size_t operands : {2U, 4U, 8U, 16U}) {
      const std::uint64_t bytes = 16 + below(random, operands == 4 ? 3 << 20 : 20000);
      const Case c = make(random, a, operands, bytes, below(random, 2 * operands));
      Digests d;
      d.first = static_cast<std::uint32_t>(below(random, operands));
      d.count = static_cast<std::uint32_t>(below(random, operands - d.first + 1));
      d.of_operands = sums;
      d.of_result = below(random, 3) == 0 ? nullptr : sums + kSums - 1;
      std::vector<PlacedSums> expected(kSums);
      for (std::size_t i = 0; i < kSums; ++i)
        expected[i].sums = {random(), random()};
      ASSERT_CUDA(cudaMemcpy(sums, expected.data(), kSums * sizeof(PlacedSums), cudaMemcpyHostToDevice));
      for (std::uint32_t i = 0; i < d.count; ++i)
        expected[i].sums += sums_of(arena_->host(c.inputs[d.first + i]), c.expected.size());
      if (d.of_result != nullptr) expected[kSums - 1].sums += sums_of(c.expected.data(), c.expected.size());
      arena_->upload();
      ASSERT_CUDA(fold_and_digest(c.arithmetic, operands_of(c), arena_->gpu(c.result), c.count, d, nullptr));
      ASSERT_CUDA(cudaDeviceSynchronize());
      arena_->download();
      std::vector<PlacedSums> got(kSums);
      ASSERT_CUDA(cudaMemcpy(got.data(), sums, kSums * sizeof(PlacedSums), cudaMemcpyDeviceToHost));
      EXPECT_EQ(std::memcmp(arena_->host(c.result), c.expected.data(), c.expected.size()), 0)
          << name(a.type) << " " << name(a.op) << " of " << operands;
      for (std::size_t i = 0; i < kSums; ++i)
        ASSERT_EQ(got[i].sums, expected[i].sums)
            << i << ": " << name(a.type) << " " << name(a.op) << " of " << operands << ", " << d.count
            << " digests from " << d.first << ", " << c.expected.size() << " bytes";
    }
  }
  ASSERT_CUDA(cudaFree(sums));
}

TEST_F(FoldDigest, ARecordIsLeftOnceForEachTime) {
  host::Random random(host::new_seed());
  recorder::cuda::DeviceRing ring;
  ASSERT_CUDA(ring.init());
  recorder::RingReader reader(ring.host_slots(), ring.host_control(), ring.ring().capacity);
  std::uint64_t* counter = nullptr;
  ASSERT_CUDA(ring.counter(counter));
  std::uint64_t index = 0;
  for (const std::uint64_t bytes : {16U, 4096U, 300000U, 2000000U}) {  // in one block, in some, in many
    for (const std::size_t operands : {2U, 4U, 8U, 16U}) {
      const Arithmetic a{DataType::bfloat16, Op::avg};
      const auto own = static_cast<std::uint32_t>(below(random, operands));
      Case c = make(random, a, operands, bytes, operands);
      recorder::Accumulator* accumulator = nullptr;
      ASSERT_CUDA(ring.accumulator(static_cast<std::uint32_t>(operands), accumulator));
      const recorder::Recording recording{ring.ring(), bytes, counter, accumulator};
      Digests d;
      d.first = own;
      d.count = 1;
      d.recording = &recording;
      arena_->upload();
      for (int i = 0; i < 3; ++i) {
        ASSERT_CUDA(
            fold_and_digest(c.arithmetic, operands_of(c), arena_->gpu(c.result), c.count, d, nullptr));
      }
      ASSERT_CUDA(cudaDeviceSynchronize());
      recorder::Slot slot;
      for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(reader.next(slot));
        EXPECT_EQ(slot.site, bytes);
        EXPECT_EQ(slot.index, index++);
        EXPECT_EQ(slot.input, sums_of(arena_->host(c.inputs[own]), c.expected.size()));
        EXPECT_EQ(slot.output, sums_of(c.expected.data(), c.expected.size()));
      }
      EXPECT_FALSE(reader.next(slot));
    }
  }
}

TEST_F(FoldDigest, WhatCannotBeDigestedIsRefused) {
  host::Random random(host::new_seed());
  for (const Arithmetic& a : all_arithmetic()) {
    const bool sum = a.op == Op::sum || a.op == Op::avg;
    const bool wide = a.type == DataType::float16 || a.type == DataType::bfloat16 ||
                      a.type == DataType::float32 || a.type == DataType::float64;
    EXPECT_EQ(can_digest(a, 2), sum && wide) << name(a.type) << " " << name(a.op);
    EXPECT_FALSE(can_digest(a, 1));
    EXPECT_FALSE(can_digest(a, 3));
    EXPECT_FALSE(can_digest(a, 32));
  }
  const Case c = make(random, {DataType::float32, Op::sum}, 2, 64, 2);
  const std::vector<Operand> operands = operands_of(c);
  std::byte* const result = arena_->gpu(c.result);
  const auto refused = [&](std::vector<Operand> its, std::byte* to, std::uint64_t count, const Digests& d) {
    return fold_and_digest(c.arithmetic, its, to, count, d, nullptr) == cudaErrorInvalidValue;
  };
  EXPECT_TRUE(refused(operands, result, 15, {})) << "no whole words";
  EXPECT_TRUE(refused(operands, result, 0, {}));
  EXPECT_TRUE(refused(operands, result + 4, 4, {}));
  EXPECT_TRUE(refused({operands[0], {arena_->gpu(c.inputs[1]) + 8, Form::raw}}, result, 4, {}));
  EXPECT_TRUE(refused({operands[0], {operands[1].data, Form::partial}}, result, 4, {}));
  EXPECT_TRUE(refused({operands[0]}, result, 4, {}));
  EXPECT_TRUE(refused(operands, result, 4, {.first = 1, .count = 2})) << "of operands that there are not";
  const recorder::Recording recording;
  EXPECT_TRUE(refused(operands, result, 4, {.first = 0, .count = 2, .recording = &recording}));
}

}  // namespace
}  // namespace detccl::device::cuda
