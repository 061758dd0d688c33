// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/fold.h"

#include <algorithm>
#include <bit>

#include "contract/element.h"
#include "device/cuda/launch.h"

namespace detccl::device::cuda {
namespace {

using contract::Op;
using plan::Form;

/// One rank's value that nothing is done to: its very bits are the result, those of a NaN too.
bool is_copy(const Arithmetic& a, const Operand& only, Form result_form) {
  if (only.form == Form::raw) return result_form == Form::final && a.op != Op::premulsum;
  return only.form == Form::partial && result_form == Form::partial;
}

Finish finish_of(const Arithmetic& a, Form result_form) {
  if (result_form == Form::partial) return Finish::keep;
  return result_form == Form::final && a.op == Op::avg ? Finish::average : Finish::round;
}

}  // namespace

cudaError_t fold(const Arithmetic& a, std::span<const Operand> operands, void* result, Form result_form,
                 std::uint64_t count, LaunchLimits limits, cudaStream_t stream) {
  if (operands.empty() || operands.size() > kMaxOperands) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (operands.size() == 1 && is_copy(a, operands[0], result_form)) {
    return copy(result, operands[0].data, count * host::element_size(a, result_form), stream);
  }
  const Request request{.arithmetic = a,
                        .operands = operands,
                        .result = static_cast<std::byte*>(result),
                        .finish = finish_of(a, result_form),
                        .count = count,
                        .limits = limits,
                        .stream = stream};
  return contract::visit_element(a.type, a.accumulate,
                                 [&]<class Element>(Element) { return launch<Element>(request); });
}

bool can_digest(const Arithmetic& a, std::size_t operands) {
  const bool digests =
      contract::visit_element(a.type, a.accumulate, []<class Element>(Element) { return kDigests<Element>; });
  return digests && (a.op == Op::sum || a.op == Op::avg) && operands >= 2 && operands <= 16 &&
         std::has_single_bit(operands);
}

cudaError_t fold_and_digest(const Arithmetic& a, std::span<const Operand> operands, void* result,
                            std::uint64_t count, const Digests& digests, cudaStream_t stream) {
  constexpr std::uintptr_t kWord = 16;
  const auto is_aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kWord == 0; };
  const bool fits = can_digest(a, operands.size()) && is_aligned(result) && count != 0 &&
                    count * host::element_size(a, Form::final) % kWord == 0 &&
                    digests.first + digests.count <= operands.size() &&
                    (digests.recording == nullptr || digests.count == 1) &&
                    std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
                      return operand.form == Form::raw && is_aligned(operand.data);
                    });
  if (!fits) return cudaErrorInvalidValue;
  const Request request{.arithmetic = a,
                        .operands = operands,
                        .result = static_cast<std::byte*>(result),
                        .finish = finish_of(a, Form::final),
                        .count = count,
                        .limits = {},
                        .stream = stream};
  return contract::visit_element(a.type, a.accumulate, [&]<class Element>(Element) {
    if constexpr (kDigests<Element>)
      return launch_digest<Element>(request, digests);
    else
      return cudaErrorInvalidValue;
  });
}

cudaError_t load_kernels() {
  for (int type = 0; type < contract::kDataTypes; ++type) {
    for (const auto accumulate : {contract::Accumulate::wide, contract::Accumulate::native}) {
      const cudaError_t error = contract::visit_element(
          static_cast<contract::DataType>(type), accumulate, []<class Element>(Element) {
            const cudaError_t loaded = load<Element>();
            if constexpr (kDigests<Element>) return loaded == cudaSuccess ? load_digest<Element>() : loaded;
            return loaded;
          });
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0 || to == from) return cudaSuccess;
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace detccl::device::cuda
