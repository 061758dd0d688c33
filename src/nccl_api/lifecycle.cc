// SPDX-License-Identifier: Apache-2.0
// Functions that make, end or ask after communicators: the registry follows them.
#include <system_error>
#include <thread>
#include <vector>

#include "nccl_api/border.h"
#include "nccl_api/creation.h"
#include "nccl_api/group.h"
#include "nccl_api/leave.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

/// Calls `create` of the real library, after a look at the environment, and takes the new communicator in.
template <class Create>
ncclResult_t make_one(ncclComm_t* slot, const ncclConfig_t* config, bool blocking, Create&& create) {
  if (passes_through()) return create();
  return guarded([&] {
    if (const ncclResult_t bad = check_environment(); bad != ncclSuccess) return Group::current().poison(bad);
    const NewCommunicator made[] = {{slot, name_in(config)}};
    return created(create(), made, blocking);
  });
}

/// As NCCL has it, a config that is given inherits nothing: what it leaves undefined is the default.
bool is_blocking(const ncclConfig_t* config, bool without_config) {
  return config == nullptr ? without_config : config->blocking != 0;
}

/// Whether a child inherits that from `parent`. Nonblocking parents may not be known yet.
bool is_blocking_parent(ncclComm_t parent) {
  const auto communicator = runtime().communicators.find(parent);
  return communicator != nullptr && communicator->blocking();
}

ncclResult_t init_all(ncclComm_t* comms, int count, const int* devices) {
  if (passes_through()) return real().CommInitAll(comms, count, devices);
  return guarded([&] {
    if (const ncclResult_t bad = check_environment(); bad != ncclSuccess) return Group::current().poison(bad);
    const ncclResult_t result = real().CommInitAll(comms, count, devices);
    std::vector<NewCommunicator> made;
    for (int i = 0; result == ncclSuccess && i < count; ++i)
      made.push_back({comms + i, ""});
    return created(result, made, true);
  });
}

/// Ends what runs on it in other threads and on the GPU. Our communicator is aborted in the thread that is
/// returned, while the caller aborts the program's: each abort waits for the kernels of both.
std::jthread stop(Communicator& communicator, ncclResult_t code) {
  communicator.stop(code);
  const auto gpu = communicator.gpu();
  if (gpu == nullptr) return {};
  try {
    return std::jthread([gpu] { gpu->abort(); });
  } catch (const std::system_error&) {  // no thread is to be had: better now than not at all
    const KeepLastError keep;
    gpu->abort();
    return {};
  }
}

ncclResult_t shrink(ncclComm_t parent, int* excluded, int excluded_count, ncclComm_t* child,
                    ncclConfig_t* config, int flags) {
  const bool blocking = !passes_through() && is_blocking(config, is_blocking_parent(parent));
  return make_one(child, config, blocking, [=] {
    std::jthread ours;
    if (!passes_through() && (flags & NCCL_SHRINK_ABORT) != 0) {
      const auto communicator = runtime().communicators.find(parent);
      if (communicator != nullptr) ours = stop(*communicator, ncclInvalidUsage);
    }
    return real().CommShrink(parent, excluded, excluded_count, child, config, flags);
  });
}

bool is_error(ncclResult_t result) {
  return result != ncclSuccess && result != ncclInProgress;
}

ncclResult_t finalize(ncclComm_t comm) {
  Group& group = Group::current();
  const ncclResult_t result = group.note(real().CommFinalize(comm));
  const auto communicator = runtime().communicators.find(comm);
  if (is_error(result) || communicator == nullptr) return result;
  if (group.open()) {
    group.leaves(communicator);
  } else {
    leave(communicator);
  }
  return result;
}

ncclResult_t destroy(ncclComm_t comm) {
  Group& group = Group::current();
  const auto communicator = runtime().communicators.find(comm);
  if (communicator != nullptr && !group.open() && !try_leave(communicator)) {
    return fail(ncclInvalidUsage,
                communicator->name() + ": the communicator is destroyed while a reduction runs on it");
  }
  if (communicator == nullptr) runtime().communicators.set_name(comm, "");
  const ncclResult_t result = group.note(real().CommDestroy(comm));
  if (communicator != nullptr && group.open() && !is_error(result)) group.leaves(communicator);
  return result;
}

ncclResult_t abort(ncclComm_t comm) {
  // Out of the registry first: the address may be another communicator's as soon as this one is aborted.
  const auto communicator = runtime().communicators.remove(comm);
  std::jthread ours;
  if (communicator != nullptr) ours = stop(*communicator, ncclInternalError);
  const ncclResult_t result = Group::current().note(real().CommAbort(comm));
  if (ours.joinable()) ours.join();
  // Only now: the communicator's other thread may have been inside the real library.
  if (communicator != nullptr) leave(communicator);
  return result;
}

ncclResult_t revoke(ncclComm_t comm, int flags) {
  const ncclResult_t result = real().CommRevoke(comm, flags);
  const auto communicator = runtime().communicators.find(comm);
  if (!is_error(result) && communicator != nullptr) stop(*communicator, ncclInvalidUsage);  // waits
  return result;
}

ncclResult_t get_async_error(ncclComm_t comm, ncclResult_t* error) {
  const ncclResult_t result = real().CommGetAsyncError(comm, error);
  if (result != ncclSuccess || (*error != ncclSuccess && *error != ncclInProgress)) return result;
  const auto communicator = runtime().communicators.find(comm);
  if (communicator == nullptr) return result;
  const auto gpu = communicator->gpu();
  const ncclResult_t ours = gpu == nullptr ? ncclSuccess : gpu->async_error();
  if (is_error(ours)) *error = ours;
  if (communicator->error() != ncclSuccess) *error = communicator->error();
  return result;
}

ncclResult_t create_premulsum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                              ncclScalarResidence_t residence, ncclComm_t comm) {
  const ncclResult_t result = real().RedOpCreatePreMulSum(op, scalar, type, residence, comm);
  if (result != ncclSuccess) return result;
  std::shared_ptr<Communicator> communicator;
  const ncclResult_t found = find_or_adopt(comm, communicator);
  if (found != ncclSuccess) return found;
  PreMulSum definition{.type = static_cast<contract::DataType>(type)};
  if (residence == ncclScalarHostImmediate) {
    definition.bits = read_scalar(definition.type, scalar);
  } else {
    definition.memory = scalar;
  }
  communicator->add_op(*op, definition);
  return result;
}

ncclResult_t destroy_op(ncclRedOp_t op, ncclComm_t comm) {
  const ncclResult_t result = real().RedOpDestroy(op, comm);
  const auto communicator = runtime().communicators.find(comm);
  if (result == ncclSuccess && communicator != nullptr) communicator->remove_op(op);
  return result;
}

}  // namespace
}  // namespace detccl::nccl_api

using detccl::nccl_api::guarded;
using detccl::nccl_api::passes_through;
using detccl::nccl_api::real;

extern "C" {

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return detccl::nccl_api::make_one(comm, nullptr, true,
                                    [&] { return real().CommInitRank(comm, nranks, commId, rank); });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
                                    ncclConfig_t* config) {
  return detccl::nccl_api::make_one(comm, config, detccl::nccl_api::is_blocking(config, true), [&] {
    return real().CommInitRankConfig(comm, nranks, commId, rank, config);
  });
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId,
                                      ncclUniqueId* commIds, ncclConfig_t* config) {
  return detccl::nccl_api::make_one(newcomm, config, detccl::nccl_api::is_blocking(config, true), [&] {
    return real().CommInitRankScalable(newcomm, nranks, myrank, nId, commIds, config);
  });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return detccl::nccl_api::init_all(comm, ndev, devlist);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config) {
  const bool blocking =
      !passes_through() && detccl::nccl_api::is_blocking(config, detccl::nccl_api::is_blocking_parent(comm));
  return detccl::nccl_api::make_one(newcomm, config, blocking,
                                    [&] { return real().CommSplit(comm, color, key, newcomm, config); });
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excludeRanksList, int excludeRanksCount,
                            ncclComm_t* newcomm, ncclConfig_t* config, int shrinkFlags) {
  return detccl::nccl_api::shrink(comm, excludeRanksList, excludeRanksCount, newcomm, config, shrinkFlags);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (passes_through()) return real().CommFinalize(comm);
  return guarded([comm] { return detccl::nccl_api::finalize(comm); });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (passes_through()) return real().CommDestroy(comm);
  return guarded([comm] { return detccl::nccl_api::destroy(comm); });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (passes_through()) return real().CommAbort(comm);
  return guarded([comm] { return detccl::nccl_api::abort(comm); });
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags) {
  if (passes_through()) return real().CommRevoke(comm, revokeFlags);
  return guarded([=] { return detccl::nccl_api::revoke(comm, revokeFlags); });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  if (passes_through()) return real().CommGetAsyncError(comm, asyncError);
  return guarded([=] { return detccl::nccl_api::get_async_error(comm, asyncError); });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  if (passes_through()) return real().RedOpCreatePreMulSum(op, scalar, datatype, residence, comm);
  return guarded([=] { return detccl::nccl_api::create_premulsum(op, scalar, datatype, residence, comm); });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  if (passes_through()) return real().RedOpDestroy(op, comm);
  return guarded([=] { return detccl::nccl_api::destroy_op(op, comm); });
}

decltype(ncclCommInitRank) pncclCommInitRank __attribute__((alias("ncclCommInitRank")));
decltype(ncclCommInitRankConfig) pncclCommInitRankConfig __attribute__((alias("ncclCommInitRankConfig")));
decltype(ncclCommInitRankScalable) pncclCommInitRankScalable
    __attribute__((alias("ncclCommInitRankScalable")));
decltype(ncclCommInitAll) pncclCommInitAll __attribute__((alias("ncclCommInitAll")));
decltype(ncclCommSplit) pncclCommSplit __attribute__((alias("ncclCommSplit")));
decltype(ncclCommShrink) pncclCommShrink __attribute__((alias("ncclCommShrink")));
decltype(ncclCommFinalize) pncclCommFinalize __attribute__((alias("ncclCommFinalize")));
decltype(ncclCommDestroy) pncclCommDestroy __attribute__((alias("ncclCommDestroy")));
decltype(ncclCommAbort) pncclCommAbort __attribute__((alias("ncclCommAbort")));
decltype(ncclCommRevoke) pncclCommRevoke __attribute__((alias("ncclCommRevoke")));
decltype(ncclCommGetAsyncError) pncclCommGetAsyncError __attribute__((alias("ncclCommGetAsyncError")));
decltype(ncclRedOpCreatePreMulSum) pncclRedOpCreatePreMulSum
    __attribute__((alias("ncclRedOpCreatePreMulSum")));
decltype(ncclRedOpDestroy) pncclRedOpDestroy __attribute__((alias("ncclRedOpDestroy")));
}
