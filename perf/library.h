// SPDX-License-Identifier: Apache-2.0
// An NCCL communicator over the job's ranks: DetCCL's, or one of the library beneath it.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <string>

#include "contract/types.h"
#include "job.h"

namespace detccl::perf {

/// The functions of NCCL that are timed or needed for it.
struct Library {
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) comm_init_rank;
  decltype(&ncclCommDestroy) comm_destroy;
  decltype(&ncclCommAbort) comm_abort;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
};

/// DetCCL, which this program is linked with.
Library detccl_library();

/// The NCCL that DetCCL has loaded. Call after a communicator of DetCCL's was made.
/// Throws std::runtime_error where it cannot be found.
Library native_library();

/// Errors are thrown as std::runtime_error.
class Communicator {
 public:
  /// Collective.
  Communicator(const Library& library, const Job& job);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// On host memory: the result is there on return.
  void all_reduce(const void* send, void* receive, std::uint64_t count, contract::DataType type,
                  contract::Op op) const;

  /// Call when all went well: the destructor alone aborts.
  void finish();

 private:
  void check(ncclResult_t result, const char* call) const;

  Library library_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace detccl::perf
