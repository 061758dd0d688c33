// SPDX-License-Identifier: Apache-2.0
// Numbers for values: equal values get equal numbers, counted from 0 in the order of their first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace detccl::plan::prover {

/// Mixes the parts of a key, one after the other.
class Hash {
 public:
  Hash& operator<<(std::uint64_t part) {
    state_ = (state_ ^ part) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
    return *this;
  }
  std::size_t value() const { return static_cast<std::size_t>(state_ ^ (state_ >> 32)); }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};

/// An open-addressing table. `Key` has == and a free function hash_of(key).
template <class Key>
class Interner {
 public:
  Interner() : table_(16, kFree) {}

  std::uint32_t operator()(const Key& key) {
    std::size_t at = hash_of(key) & (table_.size() - 1);
    while (table_[at] != kFree) {
      if (keys_[table_[at]] == key) return table_[at];
      at = (at + 1) & (table_.size() - 1);
    }
    const auto number = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    table_[at] = number;
    if (keys_.size() * 2 > table_.size()) grow();
    return number;
  }
  const Key& operator[](std::uint32_t number) const { return keys_[number]; }
  std::size_t size() const { return keys_.size(); }
  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffu;

  void grow() {
    table_.assign(table_.size() * 4, kFree);
    for (std::uint32_t number = 0; number < keys_.size(); ++number) {
      std::size_t at = hash_of(keys_[number]) & (table_.size() - 1);
      while (table_[at] != kFree)
        at = (at + 1) & (table_.size() - 1);
      table_[at] = number;
    }
  }

  std::vector<Key> keys_;
  std::vector<std::uint32_t> table_;
};

}  // namespace detccl::plan::prover
