// SPDX-License-Identifier: Apache-2.0
// Folds of raw values to the result on the GPU, against the reference evaluator, and their limits.
#include <cstring>
#include <vector>

#include "contract/reference.h"
#include "gpu_arena.h"

namespace detccl::device::cuda {
namespace {

using contract::Accumulate;
using contract::DataType;
using contract::Op;
using contract::Order;
using host::below;
using host::random_element;
using plan::Form;

class Fold : public GpuTest {};

/// `operands` arrays of raw values, their vectors at 16-byte boundaries or not.
FoldCase raw_case(GpuArena& arena, host::Random& random, Arithmetic a, std::size_t operands,
                  std::uint64_t count) {
  a.ranks = static_cast<std::uint32_t>(operands);
  a.scalar = random_element(random, a.type);
  const std::size_t size = contract::size_of(a.type);
  arena.clear();
  FoldCase c{.arithmetic = a, .count = count};
  const bool together = below(random, 2) == 0;
  const std::size_t past = below(random, 16) * size;
  for (std::size_t i = 0; i < operands; ++i) {
    c.operands.push_back(arena.add(random, a.type, count, together ? past : below(random, 16) * size));
    c.forms.push_back(Form::raw);
  }
  c.result = arena.add(count * size, past);
  return c;
}

void check_against_reference(GpuArena& arena, const FoldCase& c) {
  const Arithmetic& a = c.arithmetic;
  std::vector<const void*> inputs;
  for (const Array& operand : c.operands)
    inputs.push_back(arena.host(operand));
  std::vector<std::byte> expected(c.result.bytes);
  contract::reduce({a.order, a.accumulate, 0}, a.type, a.op, inputs, expected.data(), c.count, a.scalar);
  check_against_host(arena, c);
  EXPECT_EQ(std::memcmp(expected.data(), arena.host(c.result), expected.size()), 0)
      << name(a.type) << " " << name(a.op) << " of " << c.operands.size();
}

TEST_F(Fold, EveryTypeOpAndOrderOfOneToSeventeenOperandsIsTheReference) {
  host::Random random(host::new_seed());
  GpuArena arena;
  for (const Arithmetic& a : all_arithmetic()) {
    for (std::size_t operands = 1; operands <= 17; ++operands) {
      check_against_reference(arena, raw_case(arena, random, a, operands, 1 + below(random, 90)));
      if (HasFailure()) return;
    }
  }
}

TEST_F(Fold, ManyOperandsAreTheReference) {
  host::Random random(host::new_seed());
  GpuArena arena;
  for (const Arithmetic& a : all_arithmetic()) {
    for (const std::size_t operands : {33U, 128U}) {
      check_against_reference(arena, raw_case(arena, random, a, operands, 1 + below(random, 90)));
      if (HasFailure()) return;
    }
  }
  for (const Order order : {Order::tree, Order::linear}) {
    const Arithmetic a{DataType::bfloat16, Op::avg, order, Accumulate::wide, 1, 0};
    check_against_reference(arena, raw_case(arena, random, a, kMaxOperands, 301));
    check_against_reference(arena, raw_case(arena, random, a, kMaxOperands - 75, 301));
  }
}

TEST_F(Fold, LongArraysAreTheHostsAtEveryBlockLimit) {
  host::Random random(host::new_seed());
  GpuArena arena;
  for (const DataType type : {DataType::bfloat16, DataType::float32, DataType::float8e4m3, DataType::int64}) {
    for (const std::size_t operands : {2U, 3U, 7U, 16U, 19U}) {
      const Arithmetic a{type, Op::sum, Order::tree, Accumulate::wide, 1, 0};
      FoldCase c = raw_case(arena, random, a, operands, 20000 + below(random, 60000));
      for (const std::uint32_t blocks : {0U, 1U, 3U, 32U}) {
        c.limits.max_blocks = blocks;
        std::memset(arena.host(c.result), 0x5a, c.result.bytes);
        check_against_host(arena, c);
        if (HasFailure()) return;
      }
    }
  }
}

/// Bit patterns at which conversions and comparisons can go wrong; for 8-bit types, all.
std::vector<std::uint64_t> special_values(DataType type) {
  const int width = 8 * static_cast<int>(contract::size_of(type));
  std::vector<std::uint64_t> values;
  if (width == 8) {
    for (std::uint64_t x = 0; x < 256; ++x)
      values.push_back(x);
    return values;
  }
  const int mantissa = type == DataType::float16    ? 10
                       : type == DataType::bfloat16 ? 7
                       : width == 32                ? 23
                                                    : 52;
  const std::uint64_t sign = std::uint64_t{1} << (width - 1), one_exponent = std::uint64_t{1} << mantissa;
  const std::uint64_t infinity = sign - one_exponent, one = (infinity >> 1) & ~(one_exponent - 1);
  for (const std::uint64_t middle :
       {std::uint64_t{0}, one_exponent, one, one + one_exponent / 2, infinity / 2, infinity - one_exponent,
        infinity, infinity + one_exponent / 2, sign - 2}) {
    for (const std::uint64_t near : {middle - 1, middle, middle + 1}) {
      values.push_back(near & (sign - 1));
      values.push_back((near & (sign - 1)) | sign);
    }
  }
  return values;
}

TEST_F(Fold, AllPairsOfSpecialValuesAreTheHosts) {
  GpuArena arena;
  for (Arithmetic a : all_arithmetic()) {
    const auto values = special_values(a.type);
    const std::size_t size = contract::size_of(a.type), n = values.size();
    a.ranks = 3;
    a.scalar = values[n / 3];
    arena.clear();
    FoldCase c{.arithmetic = a, .count = n * n};
    for (std::size_t k = 0; k < 3; ++k) {
      c.operands.push_back(arena.add(n * n * size, 0));
      c.forms.push_back(Form::raw);
      for (std::size_t i = 0; i < n * n; ++i) {
        const std::uint64_t value = values[(k == 0 ? i / n : k == 1 ? i : i / n + i * 7) % n];
        std::memcpy(arena.host(c.operands[k]) + i * size, &value, size);
      }
    }
    c.result = arena.add(n * n * size, 0);
    check_against_host(arena, c);
    c.operands.pop_back();
    c.forms.pop_back();
    check_against_host(arena, c);
    if (HasFailure()) return;
  }
}

/// Every array in an allocation of its own that ends where the array does: compute-sanitizer then sees each
/// read outside. The operands start at multiples of 256, the result wherever makes them all unaligned.
TEST_F(Fold, OperandsAreReadOnlyWhereTheyAre) {
  host::Random random(host::new_seed());
  const auto allocate = [](std::size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    return static_cast<std::byte*>(memory);
  };
  for (const DataType type :
       {DataType::bfloat16, DataType::float8e5m2, DataType::float32, DataType::float64}) {
    const std::size_t size = contract::size_of(type);
    for (const std::size_t operands : {2U, 5U, 16U, 21U}) {
      for (std::size_t past = 0; past < 8; past += 1 + below(random, 2)) {
        const std::size_t count = 1 + below(random, 100), bytes = count * size;
        std::vector<std::vector<std::byte>> on_host(operands, std::vector<std::byte>(bytes));
        std::vector<Operand> host_views, gpu_views;
        for (auto& array : on_host) {
          for (std::byte& b : array)
            b = static_cast<std::byte>(random());
          host_views.push_back({array.data(), Form::raw});
          std::byte* const on_gpu = allocate(bytes);
          ASSERT_CUDA(cudaMemcpy(on_gpu, array.data(), bytes, cudaMemcpyHostToDevice));
          gpu_views.push_back({on_gpu, Form::raw});
        }
        const Arithmetic a{type, Op::sum, Order::tree, Accumulate::wide, 1, 0};
        std::vector<std::byte> expected(bytes), actual(bytes);
        host::fold(a, host_views, expected.data(), Form::final, count);
        std::byte* const result = allocate(past * size + bytes);
        ASSERT_CUDA(fold(a, gpu_views, result + past * size, Form::final, count, {}, nullptr));
        ASSERT_CUDA(cudaMemcpy(actual.data(), result + past * size, bytes, cudaMemcpyDeviceToHost));
        EXPECT_EQ(actual, expected) << name(type) << ", " << operands << " operands of " << count << ", "
                                    << past;
        for (const Operand& view : gpu_views)
          ASSERT_CUDA(cudaFree(const_cast<void*>(view.data)));
        ASSERT_CUDA(cudaFree(result));
      }
    }
  }
}

TEST_F(Fold, TooManyOrNoOperandsAreRefused) {
  const Arithmetic a;
  const std::vector<Operand> operands(kMaxOperands + 1);
  EXPECT_EQ(fold(a, {}, nullptr, Form::final, 1, {}, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(fold(a, operands, nullptr, Form::final, 1, {}, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(fold(a, std::span(operands).first(1), nullptr, Form::final, 0, {}, nullptr), cudaSuccess);
}

}  // namespace
}  // namespace detccl::device::cuda
