// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "nccl_api/communicator.h"
#include "nccl_api/group.h"

namespace detccl::nccl_api {

/// Calls `function`, a native operation on `stream` of the communicator (null if DetCCL does not know it),
/// and keeps its place among the communicator's operations.
template <class Function>
ncclResult_t native_call(const std::shared_ptr<Communicator>& communicator, cudaStream_t stream,
                         Function&& function) {
  const auto is_error = [](ncclResult_t r) { return r != ncclSuccess && r != ncclInProgress; };
  Group& group = Group::current();
  if (group.open()) {
    const ncclResult_t result = group.note(function());
    if (!is_error(result)) group.native(communicator, stream);
    return result;
  }
  const auto shadow = communicator == nullptr ? nullptr : communicator->gpu();
  if (shadow == nullptr) return function();
  if (const ncclResult_t ordered = shadow->before_native(stream); ordered != ncclSuccess) return ordered;
  const ncclResult_t result = function();
  if (is_error(result)) return result;
  const ncclResult_t ordered = shadow->after_native(stream, result == ncclInProgress);
  return ordered != ncclSuccess ? ordered : result;
}

}  // namespace detccl::nccl_api
