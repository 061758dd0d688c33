// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nccl_api/border.h"
#include "nccl_api/creation.h"
#include "nccl_api/native_call.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {

/// A native operation on a communicator: refused when the communicator is in error, and noted by an open
/// group. `traced`: what it is, to be recorded; may be null. `function` takes the arguments, the communicator
/// and the stream.
template <class Function, class... Arguments>
ncclResult_t operate(const TracedCall* traced, const Function& function, ncclComm_t comm, cudaStream_t stream,
                     Arguments... arguments) {
  if (passes_through()) return function(arguments..., comm, stream);
  return guarded([&] {
    auto communicator = runtime().communicators.find(comm);
    // What is recorded needs a communicator to belong to; an invalid handle is the real library's business.
    if (communicator == nullptr && runtime().tracing != nullptr && traced != nullptr) {
      const KeepLastError keep;
      static_cast<void>(find_or_adopt(comm, communicator));
    }
    const ncclResult_t error = communicator == nullptr ? ncclSuccess : communicator->error();
    if (error != ncclSuccess) {
      return Group::current().poison(fail(error, communicator->name() + ": the communicator is in error"));
    }
    return native_call(communicator, stream, traced, [&] { return function(arguments..., comm, stream); });
  });
}

}  // namespace detccl::nccl_api
