// SPDX-License-Identifier: Apache-2.0
// Ordered fold and copy on a CUDA stream: the same as device/host/fold.h, bit for bit, on device memory.
// Nothing here throws, allocates or synchronises, so every call can be captured in a CUDA graph. Thread rule:
// any thread, with the stream's device current. Unfinished results (`partial`) agree with the host's except
// in the patterns of NaNs, which are made uniform when a result is rounded.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/host/fold.h"
#include "plan/plan.h"
#include "recorder/ring.h"

namespace detccl::device::cuda {

using host::Arithmetic;
using host::Operand;

/// Operands of one fold. Their addresses travel as kernel parameters. Longer folds are the caller's business:
/// aligned blocks of kMaxOperands operands are subtrees of the canonical tree, so each is folded to a
/// `partial`, and the partials are folded to the result (`linear`: the first kMaxOperands operands to a
/// partial, which is the first operand of the next fold).
inline constexpr std::size_t kMaxOperands = 1024;

struct LaunchLimits {
  std::uint32_t max_blocks = 0;  ///< thread blocks of the kernel, for room beside communication; 0: no limit
};

/// result[i] = the operands' elements i combined in a.order, as plan::Fold says, i < count. Any alignment;
/// fastest where the same elements of all arrays are at 16-byte boundaries, slow where the result's address
/// is no multiple of its element's size. `result` may be one of the operands' data (exactly, and of the same
/// element size); no other overlap. `operands` is read before the call returns.
/// cudaErrorInvalidValue: no operands or more than kMaxOperands.
cudaError_t fold(const Arithmetic& a, std::span<const Operand> operands, void* result, plan::Form result_form,
                 std::uint64_t count, LaunchLimits limits, cudaStream_t stream);

/// Sums that many blocks add to, in a cache line of their own: additions to one line wait for each other.
struct alignas(128) PlacedSums {
  fingerprint::Sums sums;
};

/// Fingerprints (fingerprint/mix.h) of what a fold reads and writes, taken of the values that it has in
/// registers; each payload begins with the fold's first elements. Sums are added to what device memory holds.
struct Digests {
  std::uint32_t first = 0, count = 0;  ///< of operands first … first + count - 1
  PlacedSums* of_operands = nullptr;   ///< [i]: of operand first + i
  PlacedSums* of_result = nullptr;     ///< null: not wanted
  /// Instead of all that, if not null: one operand's and the result's are an operation's input and output,
  /// whose record is left. It is copied.
  const recorder::Recording* recording = nullptr;
};

/// Whether folds of this kind can take fingerprints, at addresses and of a length that are multiples of 16
/// bytes: sums of floats of 16 bits or more, of 2, 4, 8 or 16 raw operands to a final result.
bool can_digest(const Arithmetic& a, std::size_t operands);

/// fold() of raw operands to a final result, after load_kernels(). cudaErrorInvalidValue where it cannot
/// digest.
cudaError_t fold_and_digest(const Arithmetic& a, std::span<const Operand> operands, void* result,
                            std::uint64_t count, const Digests& digests, cudaStream_t stream);

/// Loads all kernels of fold() on the current device, so that no later fold() does: loading one may wait for
/// everything that the device is doing, which in turn may wait for what the caller does next. Not in a
/// capture.
cudaError_t load_kernels();

/// Copies `bytes` bytes; `to` and `from` are the same or do not overlap.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

}  // namespace detccl::device::cuda
