// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/creation.h"

#include <vector>

#include <fmt/format.h>

#include "nccl_api/border.h"
#include "nccl_api/connect.h"
#include "nccl_api/group.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

ncclResult_t make_entry(ncclComm_t handle, bool blocking, std::shared_ptr<Communicator>& communicator) {
  int rank = 0, ranks = 0;
  ncclResult_t result = real().CommUserRank(handle, &rank);
  if (result == ncclSuccess) result = real().CommCount(handle, &ranks);
  if (result != ncclSuccess) return result;
  communicator = std::make_shared<Communicator>(handle, rank, ranks, blocking);
  communicator->identity().creation_order = runtime().communicators_made++;
  runtime().communicators.add(communicator);
  log_line(LogLevel::debug, fmt::format("{}: new communicator {}", communicator->name(), fmt::ptr(handle)));
  return ncclSuccess;
}

ncclResult_t connect_or_fall_back(std::span<const std::shared_ptr<Communicator>> communicators) {
  if (runtime().environment.configuration().disable) return ncclSuccess;
  if (!runtime().on_host && gpu::unavailable() != nullptr) return ncclSuccess;  // reductions say so
  const ncclResult_t result = connect_all(communicators);
  if (result == ncclSuccess || !runtime().environment.configuration().fallback_native) return result;
  const char* reason = last_error();
  for (const auto& communicator : communicators)
    fall_back(*communicator, reason != nullptr ? reason : "it could not be connected");
  return ncclSuccess;
}

ncclResult_t register_and_connect(std::span<ncclComm_t* const> slots) {
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (ncclComm_t* slot : slots) {
    if (*slot == nullptr) continue;
    const ncclResult_t result = make_entry(*slot, true, communicators.emplace_back());
    if (result != ncclSuccess) return result;
  }
  const ncclResult_t result = connect_or_fall_back(communicators);
  if (result != ncclSuccess || runtime().tracing == nullptr) return result;
  for (const auto& communicator : communicators)
    runtime().tracing->prepare(*communicator);
  return ncclSuccess;
}

void give_up(ncclComm_t* slot) {
  // Another thread may have aborted it meanwhile, and its address may be another communicator's by now.
  if (*slot == nullptr || runtime().communicators.remove(*slot) == nullptr) return;
  const KeepLastError keep;
  static_cast<void>(real().CommAbort(*slot));
  *slot = nullptr;
}

}  // namespace

void fall_back(Communicator& communicator, std::string_view reason) {
  if (communicator.make_native()) {
    log_line(LogLevel::warn, fmt::format("{}: its reductions run natively (DETCCL_FALLBACK=native): {}",
                                         communicator.name(), reason));
  }
}

ncclResult_t check_environment() {
  std::string line;
  for (const std::string& problem : runtime().environment.problems())
    line += (line.empty() ? "" : "; ") + problem;
  if (runtime().tracing != nullptr && !runtime().on_host) {
    const char* const reason = gpu::unavailable() != nullptr ? "this build of DetCCL records host memory only"
                               : runtime().environment.configuration().trace_chunk_bytes != 0
                                   ? "on GPUs there are no tables of chunks; allowed: 0, 1"
                                   : nullptr;
    if (reason != nullptr) line += fmt::format("{}DETCCL_TRACE: {}", line.empty() ? "" : "; ", reason);
  }
  if (runtime().environment.configuration().profiler_shadow != 0 && !runtime().on_host)
    line += fmt::format("{}DETCCL_PROFILER_SHADOW: not yet on GPUs; allowed: 0", line.empty() ? "" : "; ");
  return line.empty() ? ncclSuccess : fail(ncclInvalidUsage, line);
}

ncclResult_t created(ncclResult_t result, std::span<ncclComm_t* const> slots, bool blocking) {
  Group& group = Group::current();
  if (result != ncclSuccess || !blocking) return group.note(result);
  if (group.open()) {
    group.created(slots);
    return ncclSuccess;
  }
  return adopt_new(slots);
}

ncclResult_t adopt_new(std::span<ncclComm_t* const> slots) {
  const ncclResult_t result = guarded([slots] { return register_and_connect(slots); });
  if (result != ncclSuccess) {
    for (ncclComm_t* slot : slots)
      give_up(slot);
  }
  return result;
}

ncclResult_t find_or_adopt(ncclComm_t handle, std::shared_ptr<Communicator>& communicator) {
  communicator = runtime().communicators.find(handle);
  return communicator != nullptr ? ncclSuccess : make_entry(handle, false, communicator);
}

}  // namespace detccl::nccl_api
