// SPDX-License-Identifier: Apache-2.0
// Random payloads that make trouble: ties, cancellation, subnormals, infinities, NaNs, odd addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "contract/types.h"
#include "device/host/kernels.h"

namespace detccl::device::host {

using Random = std::mt19937_64;

/// A seed of the day, or the value of the environment variable DETCCL_TEST_SEED; printed for repeats.
std::uint64_t new_seed();

/// 0 … end-1.
std::size_t below(Random& random, std::size_t end);

/// The bit pattern of a value of type `type`.
std::uint64_t random_element(Random& random, contract::DataType type);

/// The instruction sets that this processor has.
std::vector<Isa> isas();

/// Bytes at an address that is aligned to nothing, with a guard on each side.
class Bytes {
 public:
  Bytes(Random& random, std::size_t size);
  Bytes(Random& random, contract::DataType type, std::size_t count);  ///< random elements

  std::byte* data() { return storage_.data() + kGuard + shift_; }
  const std::byte* data() const { return storage_.data() + kGuard + shift_; }
  std::size_t size() const { return size_; }
  bool guards_intact() const;
  bool same(const Bytes& other) const;

 private:
  static constexpr std::size_t kGuard = 64;
  std::size_t size_;
  std::size_t shift_;
  std::vector<std::byte> storage_;
};

}  // namespace detccl::device::host
