// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/creation.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "nccl_api/border.h"
#include "nccl_api/connect.h"
#include "nccl_api/group.h"
#include "nccl_api/hello.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

constexpr unsigned int kConfigMagic = 0xcafebeef;

ncclResult_t make_entry(ncclComm_t handle, bool blocking, std::string name,
                        std::shared_ptr<Communicator>& communicator) {
  int rank = 0, ranks = 0;
  ncclResult_t result = real().CommUserRank(handle, &rank);
  if (result == ncclSuccess) result = real().CommCount(handle, &ranks);
  if (result != ncclSuccess) return result;
  communicator = std::make_shared<Communicator>(handle, rank, ranks, blocking);
  communicator->identity().creation_order = runtime().communicators_made++;
  communicator->identity().name = std::move(name);
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

ncclResult_t register_and_connect(std::span<const NewCommunicator> all) {
  std::vector<std::shared_ptr<Communicator>> communicators;
  for (const auto& [slot, name] : all) {
    if (*slot == nullptr) continue;
    const ncclResult_t result = make_entry(*slot, true, name, communicators.emplace_back());
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
    if (gpu::unavailable() != nullptr)
      line += fmt::format("{}DETCCL_TRACE: this build of DetCCL records host memory only",
                          line.empty() ? "" : "; ");
  }
  return line.empty() ? ncclSuccess : fail(ncclInvalidUsage, line);
}

std::string name_in(const ncclConfig_t* config) {
  constexpr std::size_t kEnd = offsetof(ncclConfig_t, commName) + sizeof config->commName;
  if (config == nullptr || config->magic != kConfigMagic || config->size < kEnd) return "";
  const char* const name = config->commName;
  return name == nullptr ? "" : std::string(name, strnlen(name, Hello::kName - 1));
}

ncclResult_t created(ncclResult_t result, std::span<const NewCommunicator> all, bool blocking) {
  Group& group = Group::current();
  if (!blocking && (result == ncclSuccess || result == ncclInProgress)) {
    // The real library may write a child's handle in a thread of its own.
    for (const auto& [slot, name] : all)
      runtime().communicators.set_name(std::atomic_ref(*slot).load(std::memory_order_relaxed), name);
  }
  if (result != ncclSuccess || !blocking) return group.note(result);
  if (group.open()) {
    group.created(all);
    return ncclSuccess;
  }
  return adopt_new(all);
}

ncclResult_t adopt_new(std::span<const NewCommunicator> all) {
  const ncclResult_t result = guarded([all] { return register_and_connect(all); });
  if (result != ncclSuccess) {
    for (const NewCommunicator& one : all)
      give_up(one.slot);
  }
  return result;
}

ncclResult_t find_or_adopt(ncclComm_t handle, std::shared_ptr<Communicator>& communicator) {
  communicator = runtime().communicators.find(handle);
  if (communicator != nullptr) return ncclSuccess;
  return make_entry(handle, false, runtime().communicators.name_of(handle), communicator);
}

}  // namespace detccl::nccl_api
