// SPDX-License-Identifier: Apache-2.0
// The side table from handles to what DetCCL knows of them. An entry begins when the handle is given out, or
// when it is first used in a reduction, and ends before the real library frees it, so that a pointer that the
// real library gives out again is a new communicator.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "nccl_api/communicator.h"

namespace detccl::nccl_api {

/// Any thread.
class Registry {
 public:
  /// Null if unknown.
  std::shared_ptr<Communicator> find(ncclComm_t handle) const;
  void add(std::shared_ptr<Communicator> communicator);
  std::vector<std::shared_ptr<Communicator>> all() const;
  /// Takes the entry out; null if there is none.
  std::shared_ptr<Communicator> remove(ncclComm_t handle);
  /// Takes out this communicator, not another one that has got its address.
  void remove(const Communicator& communicator);

  /// The name that the communicator of `handle` was made with; empty if it has none. An entry has its own.
  void set_name(ncclComm_t handle, std::string name);
  std::string name_of(ncclComm_t handle) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<ncclComm_t, std::shared_ptr<Communicator>> entries_;
  std::unordered_map<ncclComm_t, std::string> names_;
};

}  // namespace detccl::nccl_api
