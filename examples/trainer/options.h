// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include <cstdint>
#include <string>

#include "device.h"

namespace trainer {

enum class GradientType { float32, bf16 };
enum class Reduction { all_reduce, reduce_scatter };
enum class Average { sum, avg };

struct Options {
  std::uint64_t steps = 200;           ///< to be reached; a resumed run does what is left of them
  std::uint64_t batch = 16;            ///< images per rank and step
  std::uint64_t bucket_bytes = 32768;  ///< of gradients as they travel
  std::uint64_t group = 1;             ///< buckets per NCCL group
  std::uint64_t seed = 1;
  GradientType gradients = GradientType::float32;
  Reduction reduction = Reduction::all_reduce;
  Average average = Average::sum;  ///< ncclSum and a division by the number of ranks, or ncclAvg
  Where device = Where::automatic;
  std::string data;
  std::string checkpoint;              ///< file to write, "{step}" standing for the step; empty: none
  std::uint64_t checkpoint_every = 0;  ///< steps; 0: only after the last
  std::string resume;                  ///< file to read; empty: none
  bool json = false;
  bool quiet = false;
};

struct Parsed {
  bool run = false;
  int exit_code = 0;  ///< where not run: 0 after --help and --version, 2 after a usage error
  std::string text;   ///< where not run: what to print
  Options options;
};

/// Prints nothing, so that one rank can speak for all.
Parsed parse_options(int argc, char** argv);

}  // namespace trainer
