// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: tells runs apart and finds damaged files; no protection against intent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainer {

inline std::uint64_t fnv1a(const void* data, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace trainer
