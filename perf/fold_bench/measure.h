// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "options.h"

namespace detccl::fold_bench {

/// Bytes per second, a value per sample; the samples of one index were taken one after the other.
struct Rates {
  std::vector<double> copy;     ///< cudaMemcpyAsync of as many bytes, read plus written
  std::vector<double> fold;     ///< all operands' and the result's bytes
  std::vector<double> limited;  ///< the same with Options::blocks thread blocks
  /// The same as `fold`, with the digests of all operands, and of the result too; none where folds take no
  /// digests.
  std::vector<double> inputs_digested, all_digested;
};

struct Row {
  contract::DataType type = contract::DataType::float32;
  std::uint32_t operands = 0;
  std::uint64_t bytes = 0;  ///< of one operand
  Rates rates;
};

/// Measures everything that `options` ask for; `done` gets each row.
void measure(const Options& options, const std::function<void(const Row&)>& done);

}  // namespace detccl::fold_bench
