// SPDX-License-Identifier: Apache-2.0
// fold() with the loops of a chosen instruction set, to test that all give the same bits.
#pragma once

#include "device/host/fold.h"
#include "device/host/kernels.h"

namespace detccl::device::host {

/// As fold(). The processor must have `isa`.
void fold_on(Isa isa, const Arithmetic& a, std::span<const Operand> operands, void* result,
             plan::Form result_form, std::uint64_t count);

}  // namespace detccl::device::host
