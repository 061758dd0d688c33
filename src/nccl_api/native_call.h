// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "nccl_api/communicator.h"
#include "nccl_api/group.h"
#include "nccl_api/runtime.h"
#include "nccl_api/settle.h"

namespace detccl::nccl_api {

inline TracedCall on_stream(TracedCall call, cudaStream_t stream) {
  call.stream = stream;
  return call;
}

/// Calls `function`, a native operation on `stream` of the communicator (null if DetCCL does not know it),
/// and keeps its place among the communicator's operations. `traced`: what it is, to be recorded; may be
/// null.
template <class Function>
ncclResult_t native_call(const std::shared_ptr<Communicator>& communicator, cudaStream_t stream,
                         const TracedCall* traced, Function&& function) {
  const auto is_error = [](ncclResult_t r) { return r != ncclSuccess && r != ncclInProgress; };
  Group& group = Group::current();
  if (group.open()) {
    const ncclResult_t result = group.note(function());
    if (is_error(result)) return result;
    group.native(communicator, stream);
    if (traced != nullptr) group.trace(communicator, on_stream(*traced, stream), 0);
    return result;
  }
  const auto in_order = [&]() -> ncclResult_t {
    const auto shadow = communicator == nullptr ? nullptr : communicator->gpu();
    if (shadow == nullptr) return function();
    if (const ncclResult_t ordered = shadow->before_native(stream); ordered != ncclSuccess) return ordered;
    const ncclResult_t result = function();
    if (is_error(result)) return result;
    const ncclResult_t ordered = shadow->after_native(stream, result == ncclInProgress);
    return ordered != ncclSuccess ? ordered : result;
  };
  Tracing* tracing = traced == nullptr ? nullptr : runtime().tracing.get();
  if (tracing == nullptr || communicator == nullptr) return in_order();
  auto pending = tracing->before(communicator, on_stream(*traced, stream), 0);
  const ncclResult_t result = in_order();
  if (!is_error(result) && settle(*communicator, result) == ncclSuccess) tracing->after(std::move(pending));
  return result;
}

}  // namespace detccl::nccl_api
