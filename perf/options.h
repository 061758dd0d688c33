// SPDX-License-Identifier: Apache-2.0
// The command line: nccl-tests' flags, with the same meanings and defaults, and a few of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contract/contract.h"

namespace detccl::perf {

enum class Against { nothing, mpi, native };

struct Options {
  std::uint64_t min_bytes = 32u << 20, max_bytes = 32u << 20;
  std::uint64_t step_bytes = 1u << 20;  ///< added from size to size, where step_factor is 1
  std::uint64_t step_factor = 1;
  std::uint64_t iterations = 20, warmup = 1, checks = 1;
  contract::DataType type = contract::DataType::float32;
  contract::Op op = contract::Op::sum;
  bool host = false;
  bool in_place = false;
  Against against = Against::nothing;
  contract::Contract contract;  ///< --contract, else DETCCL_CONTRACT, else the default
  std::string schedule;         ///< --schedule, else DETCCL_SCHEDULE; empty: the library chooses
  std::string json;             ///< file; empty: none
  std::string commit;           ///< of the source, for the results
};

struct Parsed {
  bool run = false;
  int exit_code = 0;  ///< where not run: 0 after --help and --version, 2 after a usage error
  std::string text;   ///< where not run: what to print
  Options options;
};

/// Prints nothing, so that one rank can speak for all.
Parsed parse_options(int argc, char** argv, const std::string& program);

/// The message sizes asked for, in bytes, whole elements each.
std::vector<std::uint64_t> sizes(const Options& options);

/// nccl-tests' names: "float", "bfloat16" …
std::string type_name(contract::DataType type);

}  // namespace detccl::perf
