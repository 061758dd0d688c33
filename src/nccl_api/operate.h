// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nccl_api/border.h"
#include "nccl_api/native_call.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {

/// A native operation on a communicator: refused when the communicator is in error, and noted by an open
/// group. `function` takes the arguments, the communicator and the stream.
template <class Function, class... Arguments>
ncclResult_t operate(const Function& function, ncclComm_t comm, cudaStream_t stream, Arguments... arguments) {
  if (passes_through()) return function(arguments..., comm, stream);
  return guarded([&] {
    const auto communicator = runtime().communicators.find(comm);
    const ncclResult_t error = communicator == nullptr ? ncclSuccess : communicator->error();
    if (error != ncclSuccess) {
      return Group::current().poison(fail(error, communicator->name() + ": the communicator is in error"));
    }
    return native_call(communicator, stream, [&] { return function(arguments..., comm, stream); });
  });
}

}  // namespace detccl::nccl_api
