// SPDX-License-Identifier: Apache-2.0
// What a sweep program has to say about its collective; the rest is shared.
#pragma once

#include <cstdint>

#include "contract/types.h"
#include "library.h"

namespace detccl::perf {

/// One call, in NCCL's meaning: `count` is that of its parameter (ReduceScatter: of one rank's part).
struct Call {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;
  contract::DataType type{};
  contract::Op op{};
  int root = 0;
  int rank = 0, ranks = 1;  ///< the caller's, and how many there are
};

/// Which of the ranks receive, and what.
enum class Receivers { all_the_same, each_its_own, root };

/// Of whom a received element comes: element `index` of rank `rank`'s input, or of all ranks' in reductions.
struct Source {
  int rank = 0;
  std::uint64_t index = 0;
};
struct Receiver {
  int rank = 0, ranks = 1, root = 0;
  std::uint64_t count = 0;  ///< NCCL's parameter
};

struct Collective {
  const char* program;   ///< "all_reduce_perf"
  const char* name;      ///< "all_reduce"
  bool reduces;          ///< and DetCCL does it, where NCCL's bits could differ; else it moves elements only
  bool sends_parts;      ///< each rank sends as many parts of `count` elements as there are ranks, else one
  bool receives_parts;   ///< likewise
  bool rooted;           ///< has a root
  bool can_be_in_place;  ///< one buffer may be both
  Receivers receivers;
  double (*bus_factor)(int ranks);  ///< busbw / algbw, as nccl-tests has it
  Source (*source)(const Receiver& receiver, std::uint64_t element);
  ncclResult_t (*nccl)(const Library& library, const Call& call, ncclComm_t comm, void* stream);
  void (*mpi)(const Call& call);  ///< null: not compared with MPI

  std::uint64_t sent_parts(int ranks) const { return sends_parts ? static_cast<std::uint64_t>(ranks) : 1; }
  std::uint64_t received_parts(int ranks) const {
    return receives_parts ? static_cast<std::uint64_t>(ranks) : 1;
  }
};

/// Element i of all inputs makes element i of the result.
inline Source same_element(const Receiver&, std::uint64_t element) {
  return {0, element};
}

/// The sweep program of a collective: main() is this.
int perf_main(int argc, char** argv, const Collective& collective);

}  // namespace detccl::perf
