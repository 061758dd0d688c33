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
};

struct Collective {
  const char* program;              ///< "all_reduce_perf"
  const char* name;                 ///< "all_reduce"
  bool scatters;                    ///< each rank receives its part
  bool rooted;                      ///< one rank receives
  double (*bus_factor)(int ranks);  ///< busbw / algbw, as nccl-tests has it
  ncclResult_t (*nccl)(const Library& library, const Call& call, ncclComm_t comm, void* stream);
  void (*mpi)(const Call& call);
};

/// The sweep program of a collective: main() is this.
int perf_main(int argc, char** argv, const Collective& collective);

}  // namespace detccl::perf
