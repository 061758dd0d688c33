// SPDX-License-Identifier: Apache-2.0
// Operations that ran both ways, one right after the other: how long each took, in constant space. Of many
// pairs a random choice is kept, each pair as likely as any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace detccl::profile {

struct Pair {
  std::uint64_t ours = 0, native = 0;  ///< nanoseconds
};

class Pairs {
 public:
  static constexpr std::size_t kMost = 128;

  void add(const Pair& pair);

  std::uint64_t count() const { return count_; }  ///< of all, kept or not
  const std::vector<Pair>& kept() const { return kept_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<Pair> kept_;
};

}  // namespace detccl::profile
