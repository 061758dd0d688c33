// SPDX-License-Identifier: Apache-2.0
// The C border: communicators from their making to their end.
#include "hostnccl/api.h"

#include <vector>

#include "hostnccl/border.h"
#include "hostnccl/creation.h"
#include "hostnccl/lifecycle.h"
#include "hostnccl/process.h"
#include "hostnccl/split.h"

namespace detccl::hostnccl {
namespace {

/// `*value = question(communicator)`, for a communicator that is ready.
template <typename Question>
ncclResult_t ask(ncclComm_t comm, int* value, const Question& question) noexcept {
  return guarded([&] {
    const auto communicator = process().registry.find(comm);
    if (value == nullptr) throw Error(ncclInvalidArgument, "the pointer to the answer is NULL");
    communicator->check_ready();
    *value = question(*communicator);
    return ncclSuccess;
  });
}

}  // namespace
}  // namespace detccl::hostnccl

using namespace detccl::hostnccl;

extern "C" {

ncclResult_t pncclGetUniqueId(ncclUniqueId* uniqueId) {
  return guarded([&] {
    if (uniqueId == nullptr) throw Error(ncclInvalidArgument, "the pointer to the unique id is NULL");
    *uniqueId = process().roots.create();
    return ncclSuccess;
  });
}

ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return grouped([&](Group& group) { init_rank(group, comm, nranks, {commId}, rank, 0, nullptr); });
}

ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
                                     ncclConfig_t* config) {
  return grouped([&](Group& group) { init_rank(group, comm, nranks, {commId}, rank, 0, config); });
}

ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId,
                                       ncclUniqueId* commIds, ncclConfig_t* config) {
  return grouped([&](Group& group) {
    if (commIds == nullptr) throw Error(ncclInvalidArgument, "the pointer to the unique ids is NULL");
    if (nId < 1 || nId > nranks)
      throw Error(ncclInvalidArgument, "the number of unique ids must be 1 to nranks");
    init_rank(group, newcomm, nranks, std::vector<ncclUniqueId>(commIds, commIds + nId), myrank, 0, config);
  });
}

ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return guarded([&] {
    init_all(comm, ndev, devlist);
    return ncclSuccess;
  });
}

ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config) {
  return grouped(
      [&](Group& group) { split(group, process().registry.find(comm), color, key, newcomm, config); });
}

ncclResult_t pncclCommShrink(ncclComm_t comm, int* excludeRanksList, int excludeRanksCount,
                             ncclComm_t* newcomm, ncclConfig_t* config, int shrinkFlags) {
  return grouped([&](Group& group) {
    const auto parent = process().registry.find(comm);
    if (excludeRanksList == nullptr || excludeRanksCount < 1) {
      throw Error(ncclInvalidArgument, "no ranks are excluded");
    }
    const std::span<const int> excluded(excludeRanksList, static_cast<std::size_t>(excludeRanksCount));
    shrink(group, parent, excluded, newcomm, config, shrinkFlags);
  });
}

ncclResult_t pncclCommFinalize(ncclComm_t comm) {
  return grouped([&](Group& group) { finalize(group, process().registry.find(comm)); });
}

ncclResult_t pncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;  // as NCCL
  return grouped([&](Group& group) { destroy(group, comm); });
}

ncclResult_t pncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;  // as NCCL
  return guarded([&] {
    abort(comm);
    return ncclSuccess;
  });
}

ncclResult_t pncclCommRevoke(ncclComm_t comm, int revokeFlags) {
  return guarded([&] {
    revoke(process().registry.find(comm), revokeFlags);
    return ncclSuccess;
  });
}

ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  return guarded([&] {
    const auto communicator = process().registry.find(comm);
    if (asyncError == nullptr) throw Error(ncclInvalidArgument, "the pointer to the error is NULL");
    *asyncError = communicator->result();
    return ncclSuccess;
  });
}

ncclResult_t pncclCommCount(const ncclComm_t comm, int* count) {
  return ask(comm, count, [](const Communicator& c) { return static_cast<int>(c.size()); });
}

ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank) {
  return ask(comm, rank, [](const Communicator& c) { return static_cast<int>(c.rank()); });
}

ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device) {
  return ask(comm, device, [](const Communicator& c) { return c.identity().device; });
}

}  // extern "C"

HOSTNCCL_EXPORT(ncclGetUniqueId);
HOSTNCCL_EXPORT(ncclCommInitRank);
HOSTNCCL_EXPORT(ncclCommInitRankConfig);
HOSTNCCL_EXPORT(ncclCommInitRankScalable);
HOSTNCCL_EXPORT(ncclCommInitAll);
HOSTNCCL_EXPORT(ncclCommSplit);
HOSTNCCL_EXPORT(ncclCommShrink);
HOSTNCCL_EXPORT(ncclCommFinalize);
HOSTNCCL_EXPORT(ncclCommDestroy);
HOSTNCCL_EXPORT(ncclCommAbort);
HOSTNCCL_EXPORT(ncclCommRevoke);
HOSTNCCL_EXPORT(ncclCommGetAsyncError);
HOSTNCCL_EXPORT(ncclCommCount);
HOSTNCCL_EXPORT(ncclCommUserRank);
HOSTNCCL_EXPORT(ncclCommCuDevice);
