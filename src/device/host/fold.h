// SPDX-License-Identifier: Apache-2.0
// Ordered fold and copy on host memory, vectorised, bit-equal to the contract's reference evaluator.
#pragma once

#include <cstdint>
#include <span>

#include "contract/contract.h"
#include "plan/plan.h"

namespace detccl::device::host {

/// What is the same for all folds of one collective call.
struct Arithmetic {
  contract::DataType type = contract::DataType::float32;
  contract::Op op = contract::Op::sum;
  contract::Order order = contract::Order::tree;
  contract::Accumulate accumulate = contract::Accumulate::wide;
  std::uint32_t ranks = 1;   ///< avg's divisor
  std::uint64_t scalar = 0;  ///< PreMulSum's factor: its bit pattern in `type`
  /// On a GPU: where the factor is read when the fold runs, if not null; the host ignores it.
  const void* scalar_memory = nullptr;
};

struct Operand {
  const void* data = nullptr;
  plan::Form form = plan::Form::raw;
};

/// Bytes of one element of form `form`: the payload type's size, or for `partial` the accumulation type's.
std::size_t element_size(const Arithmetic& a, plan::Form form);

/// result[i] = the operands' elements i combined in a.order, as plan::Fold says, i < count. Any alignment.
/// `result` may be one of the operands' data (exactly, and of the same element size); no other overlap.
/// The bits do not depend on the thread's floating-point environment: rounding mode and flush-to-zero are
/// set for the call and restored. Never throws, never allocates.
void fold(const Arithmetic& a, std::span<const Operand> operands, void* result, plan::Form result_form,
          std::uint64_t count);

}  // namespace detccl::device::host
