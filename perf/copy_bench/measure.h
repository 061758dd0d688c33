// SPDX-License-Identifier: Apache-2.0
// How fast GPUs of a host copy from each other's memory.
#pragma once

#include <cstdint>
#include <vector>

namespace detccl::copy_bench {

struct Options {
  std::uint64_t bytes = std::uint64_t{256} << 20;
  int samples = 10, repeats = 8;
};

/// From GPU `from` to GPU `to`; of one and the same, a copy within it.
struct Row {
  int from = 0, to = 0;
  bool peer_access = true;        ///< no way over the host
  std::vector<double> one_way;    ///< bytes per second, a sample each
  std::vector<double> both_ways;  ///< of each direction while the other one is busy too; empty within a GPU
};

/// All pairs of the visible GPUs. Throws std::runtime_error for CUDA's errors.
std::vector<Row> measure(const Options& options);

}  // namespace detccl::copy_bench
