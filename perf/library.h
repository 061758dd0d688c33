// SPDX-License-Identifier: Apache-2.0
// NCCL libraries by file, each with its own functions, and communicators of them. Nothing of NCCL is linked:
// the real library and libdetccl.so live in one process, and a name would mean the one or the other.
#pragma once

#include <nccl.h>

#include <string>

#include "contract/types.h"
#include "job.h"
#include "profile/operation.h"

namespace detccl::perf {

/// The functions of NCCL that are timed or needed for it.
struct Library {
  std::string path;  ///< the file
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;  ///< may be missing
  profile::Observe observe = nullptr;                ///< DetCCL's

  int version_code() const;     ///< 22809
  std::string version() const;  ///< "2.28.9"
};

/// Loads a file, or a name that the loader searches for, for good and without offering its symbols to others.
/// Throws UsageError where there is no such library or it is no NCCL.
Library load_library(const std::string& file);

/// Errors are thrown as std::runtime_error.
class Communicator {
 public:
  /// Collective.
  Communicator(const Library& library, Job& job);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Library& library() const { return library_; }
  ncclComm_t get() const { return comm_; }

  /// Throws, with the library's words, where `result` is an error of `call`.
  void check(ncclResult_t result, const char* call) const;

  /// Call when all went well: the destructor alone aborts.
  void finish();

 private:
  const Library& library_;
  ncclComm_t comm_ = nullptr;
};

// The contract numbers them as NCCL does.
constexpr ncclDataType_t nccl_type(contract::DataType type) {
  return static_cast<ncclDataType_t>(type);
}
constexpr ncclRedOp_t nccl_op(contract::Op op) {
  return static_cast<ncclRedOp_t>(op);
}

}  // namespace detccl::perf
