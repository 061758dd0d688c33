// SPDX-License-Identifier: Apache-2.0
// One NCCL communicator over all ranks that mpirun started; MPI does no more than hand out the unique id.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>

#include "device.h"

namespace trainer {

/// Every error, NCCL's asynchronous ones too, is thrown as std::runtime_error.
class Communicator {
 public:
  /// Collective. The device must outlive the communicator.
  Communicator(Device& device, int rank, int ranks);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  Device& device() const { return device_; }

  // Enqueued on the device's stream; counts in elements, as NCCL's.
  void all_reduce(void* buffer, std::size_t count, ncclDataType_t type, ncclRedOp_t op);
  void reduce_scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                      ncclRedOp_t op);
  void all_gather(const void* send, void* receive, std::size_t count, ncclDataType_t type);
  void broadcast(void* buffer, std::size_t count, ncclDataType_t type, int root);
  void group_start();
  void group_end();

  /// Returns when everything enqueued has run.
  void wait();

  /// Call at the end of a run that went well: the destructor alone aborts.
  void finish();

 private:
  void check(ncclResult_t result, const char* call) const;

  Device& device_;
  int rank_, ranks_;
  ncclComm_t comm_ = nullptr;
};

/// The library's version, "2.28.9".
std::string nccl_version();

}  // namespace trainer
