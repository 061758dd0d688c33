// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contract/contract.h"

namespace detccl::fold_bench {

struct Options {
  std::uint64_t begin_bytes = std::uint64_t{64} << 20;  ///< of one operand
  std::uint64_t end_bytes = std::uint64_t{256} << 20;
  std::uint64_t factor = 4;  ///< from a size to the next
  int warmups = 3;
  int samples = 20;
  std::vector<contract::DataType> types = {contract::DataType::bfloat16, contract::DataType::float16,
                                           contract::DataType::float32};
  std::vector<std::uint32_t> operands = {2, 3, 4, 6, 8, 12, 16};
  contract::Contract contract;
  std::uint32_t blocks = 32;  ///< of the limited run
  std::string json;           ///< file; empty: none
};

/// The options, or the status to exit with: 0 after --help, 2 for wrong ones (said on stderr).
struct Parsed {
  Options options;
  std::optional<int> exit;
};
Parsed parse(int argc, char** argv);

}  // namespace detccl::fold_bench
