// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace detccl::digest_bench {

struct Options {
  std::uint64_t begin_bytes = std::uint64_t{1} << 20;
  std::uint64_t end_bytes = std::uint64_t{4} << 30;
  std::uint64_t factor = 8;  ///< from a size to the next
  int warmups = 3;
  int samples = 20;
  std::uint32_t blocks = 32;  ///< thread blocks of the limited run
  std::uint64_t chunks = 64;
  std::string json;  ///< file; empty: none
};

/// What is timed. All but copy only read.
enum class What : std::uint8_t {
  read,     ///< the ceiling: a kernel that does nothing but read
  copy,     ///< cudaMemcpyAsync of half as many bytes: read and written
  digest,   ///< at a multiple of 16 bytes
  shifted,  ///< two bytes past one
  chunks,   ///< a table of Options::chunks
  limited,  ///< digest with Options::blocks thread blocks
  torch,    ///< torch's hash as bf16
};
inline constexpr const char* kWhats[] = {"read", "copy", "digest", "shifted", "chunks", "limited", "torch"};
inline constexpr int kWhatCount = 7;

struct Row {
  std::uint64_t bytes = 0;  ///< moved, by each
  /// Bytes per second, a value per sample; the samples of one index were taken one after the other.
  std::vector<double> rates[kWhatCount];
};

/// Measures everything that `options` ask for; `done` gets each row. Before, checks a digest of the largest
/// size against the host's; throws if it is wrong.
void measure(const Options& options, const std::function<void(const Row&)>& done);

}  // namespace detccl::digest_bench
