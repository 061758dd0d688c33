// SPDX-License-Identifier: Apache-2.0
// Folds of raw, rounded and unfinished operands to every form of result, at every alignment, in and out of
// place, against the host's fold.
#include <algorithm>
#include <utility>
#include <vector>

#include "gpu_arena.h"

namespace detccl::device::cuda {
namespace {

using contract::Accumulate;
using contract::DataType;
using contract::Op;
using contract::Order;
using host::below;
using plan::Form;

class Forms : public GpuTest {};

enum class Placement { aligned, same_element, any_element, any_byte };

DataType stored_type(const Arithmetic& a, Form form) {
  return form == Form::partial ? contract::accumulation_type(a.type, a.accumulate) : a.type;
}

/// Bytes past a multiple of 64 for elements of `size` bytes.
std::size_t past(host::Random& random, Placement placement, std::size_t element, std::size_t size) {
  switch (placement) {
    case Placement::aligned:
      return 0;
    case Placement::same_element:
      return element * size;
    case Placement::any_element:
      return below(random, 8) * size;
    case Placement::any_byte:
      break;
  }
  return below(random, 64);
}

FoldCase random_case(GpuArena& arena, host::Random& random, Arithmetic a, std::size_t operands,
                     Form result_form) {
  a.ranks = static_cast<std::uint32_t>(1 + below(random, 300));
  a.scalar = host::random_element(random, a.type);
  const auto placement = static_cast<Placement>(below(random, 4));
  const std::size_t element = below(random, 16);
  constexpr Form kForms[] = {Form::raw, Form::partial, Form::rounded};
  const bool mixed = below(random, 3) != 0;
  const Form one_form = kForms[below(random, 3)];
  arena.clear();
  FoldCase c{.arithmetic = a, .result_form = result_form, .count = below(random, 700)};
  c.limits.max_blocks = static_cast<std::uint32_t>(below(random, 3));
  for (std::size_t i = 0; i < operands; ++i) {
    c.forms.push_back(mixed ? kForms[below(random, 3)] : one_form);
    const DataType type = stored_type(a, c.forms.back());
    c.operands.push_back(
        arena.add(random, type, c.count, past(random, placement, element, contract::size_of(type))));
  }
  const std::size_t size = host::element_size(a, result_form), i = below(random, operands);
  if (below(random, 3) == 0 && host::element_size(a, c.forms[i]) == size) {
    c.result = c.operands[i];
  } else {
    c.result = arena.add(c.count * size, past(random, placement, element, size));
  }
  return c;
}

TEST_F(Forms, EveryTypeOpOrderAndNumberOfOperandsIsTheHosts) {
  host::Random random(host::new_seed());
  GpuArena arena;
  for (const Arithmetic& a : all_arithmetic()) {
    for (const Form result : {Form::partial, Form::rounded, Form::final}) {
      for (std::size_t operands = 1; operands <= 17; ++operands) {
        check_against_host(arena, random_case(arena, random, a, operands, result));
        if (HasFailure()) return;
      }
      check_against_host(arena, random_case(arena, random, a, 33, result));
      if (HasFailure()) return;
    }
  }
}

TEST_F(Forms, ManyOperandsAreTheHosts) {
  host::Random random(host::new_seed());
  GpuArena arena;
  for (const Arithmetic& a : all_arithmetic()) {
    for (const Form result : {Form::partial, Form::rounded, Form::final}) {
      check_against_host(arena, random_case(arena, random, a, 18 + below(random, 111), result));
      if (HasFailure()) return;
    }
  }
}

/// As fold.h says: through unfinished results of kMaxOperands operands each.
TEST_F(Forms, FoldsOfMoreThanTheMostOperandsGoThroughPartials) {
  host::Random random(host::new_seed());
  GpuArena arena;
  constexpr std::size_t kOperands = 2 * kMaxOperands + 452, kCount = 77;
  for (const Order order : {Order::tree, Order::linear}) {
    const Arithmetic a{DataType::float16, Op::avg, order, Accumulate::wide, kOperands, 0};
    arena.clear();
    std::vector<Operand> on_host, on_gpu;
    for (std::size_t i = 0; i < kOperands; ++i) {
      const Array x = arena.add(random, a.type, kCount, 0);
      on_host.push_back({arena.host(x), Form::raw});
      on_gpu.push_back({arena.gpu(x), Form::raw});
    }
    std::vector<Operand> partials;
    const Array result = arena.add(kCount * 2, 0);
    arena.upload();
    for (std::size_t first = 0; first < kOperands; first += kMaxOperands) {
      const Array partial = arena.add(kCount * 4, 0);
      const auto block = std::span(on_gpu).subspan(first, std::min(kMaxOperands, kOperands - first));
      if (order == Order::tree) {
        ASSERT_CUDA(fold(a, block, arena.gpu(partial), Form::partial, kCount, {}, nullptr));
        partials.push_back({arena.gpu(partial), Form::partial});
        continue;
      }
      for (std::size_t done = 0; done < block.size();) {
        std::vector<Operand> next = std::exchange(partials, {{arena.gpu(partial), Form::partial}});
        const std::size_t take = std::min(block.size() - done, kMaxOperands - next.size());
        next.insert(next.end(), block.begin() + static_cast<std::ptrdiff_t>(done),
                    block.begin() + static_cast<std::ptrdiff_t>(done + take));
        ASSERT_CUDA(fold(a, next, arena.gpu(partial), Form::partial, kCount, {}, nullptr));
        done += take;
      }
    }
    ASSERT_CUDA(fold(a, partials, arena.gpu(result), Form::final, kCount, {}, nullptr));
    std::vector<std::uint16_t> expected(kCount), actual(kCount);
    ASSERT_CUDA(cudaMemcpy(actual.data(), arena.gpu(result), kCount * 2, cudaMemcpyDeviceToHost));
    host::fold(a, on_host, expected.data(), Form::final, kCount);
    EXPECT_EQ(actual, expected);
  }
}

}  // namespace
}  // namespace detccl::device::cuda
