// SPDX-License-Identifier: Apache-2.0
// What fold.cc asks of the kernels. Internal to the room; fold.h is its interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "device/cuda/fold.h"

namespace detccl::device::cuda {

/// What becomes of a fold's value.
enum class Finish : std::uint8_t {
  keep,     ///< stays unrounded, in the accumulation type
  round,    ///< rounded to the payload type
  average,  ///< divided by the number of ranks, then rounded
};

struct Request {
  const Arithmetic& arithmetic;
  std::span<const Operand> operands;  ///< 1 to kMaxOperands
  std::byte* result;
  Finish finish;
  std::uint64_t count;  ///< elements, at least 1
  LaunchLimits limits;
  cudaStream_t stream;
};

/// Which elements' folds can take fingerprints: a vector is a fingerprint's word.
template <class Element>
inline constexpr bool kDigests =
    !std::is_integral_v<typename Element::Value> && sizeof(typename Element::Bits) >= 2;

/// Instantiated for those, likewise.
template <class Element>
cudaError_t launch_digest(const Request& request, const Digests& digests);
template <class Element>
cudaError_t load_digest();

/// Enqueues the fold of elements of class `Element` (contract/element.h). Instantiated in elements_*.cu.
template <class Element>
cudaError_t launch(const Request& request);

/// Loads the kernels of `Element` on the current device. Instantiated likewise.
template <class Element>
cudaError_t load();

}  // namespace detccl::device::cuda
