// SPDX-License-Identifier: Apache-2.0
// The command line: nccl-tests' flags, with the same meanings and defaults, and a few of our own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contract/contract.h"

namespace detccl::perf {

struct Collective;

enum class Against { nothing, mpi, native };

/// How ranks that share a GPU reach each other.
enum class Bench {
  automatic,  ///< of the following what is possible, if ranks share a GPU
  socket,     ///< each takes itself for a host of its own
  p2p,        ///< NCCL's transport inside a node, from 2.30 on
  none        ///< nothing is set
};
const char* name(Bench bench);

/// Where a supervisor starts this program again for one rank and one schedule.
struct ChildPlace {
  int fd = -1;  ///< to the supervisor; -1: this is no child
  int rank = 0, ranks = 1;
  std::uint32_t first_step = 0;
};

/// A fault put into a result on purpose, to show that it is seen.
struct Fault {
  int rank = -1;  ///< -1: none
  std::uint64_t call = 0;
  std::int64_t ulps = 0;
};

/// Beside the reference evaluator: that other calls with the same input give the same bits.
struct Repeats {
  bool split = true, communicator = false;
};

struct Options {
  std::uint64_t min_bytes = 32u << 20, max_bytes = 32u << 20;
  std::uint64_t step_bytes = 1u << 20;  ///< added from size to size, where step_factor is 1
  std::uint64_t step_factor = 1;
  std::uint64_t iterations = 20, warmup = 1, checks = 1;
  std::uint64_t rounds = 10, graph = 0;
  double row_seconds = 0.0;  ///< 0: as long as it takes
  std::uint64_t timeout = 120;
  std::vector<contract::DataType> types{contract::DataType::float32};
  std::vector<contract::Op> ops{contract::Op::sum};
  std::uint64_t root = 0;
  std::uint64_t ranks = 0;  ///< processes that this one starts; 0: those of the launcher
  bool host = false, in_place = false, host_time = false;
  Against against = Against::nothing;
  Bench bench = Bench::automatic;
  Repeats repeats;
  Fault fault;
  contract::Contract contract;         ///< --contract, else DETCCL_CONTRACT, else the default
  std::vector<std::string> schedules;  ///< as DETCCL_SCHEDULE has them; empty: as the environment says
  std::string native_algo;             ///< NCCL_ALGO of the native communicator alone; empty: as it is
  std::string nccl, detccl;            ///< the libraries' files; empty: where they are found
  std::string json;                    ///< file; empty: none
  std::string commit;                  ///< of the source, for the results
  ChildPlace child;
};

struct Parsed {
  bool run = false;
  int exit_code = 0;  ///< where not run: 0 after --help and --version, 2 after a usage error
  std::string text;   ///< where not run: what to print
  Options options;
};

/// Prints nothing, so that one rank can speak for all.
Parsed parse_options(int argc, char** argv, const Collective& collective);

/// One line of the table.
struct Task {
  contract::DataType type{};
  contract::Op op{};
  std::uint64_t bytes = 0;  ///< as the table has it: of the larger of send and receive
  std::uint64_t count = 0;  ///< NCCL's parameter
};

/// All that is asked for, in whole elements, in the order in which it is measured.
std::vector<Task> tasks(const Options& options, const Collective& collective, int ranks);

/// nccl-tests' names: "float", "bfloat16" …
std::string type_name(contract::DataType type);

}  // namespace detccl::perf
