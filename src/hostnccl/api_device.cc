// SPDX-License-Identifier: Apache-2.0
// The C border: what NCCL's device API asks of the host library. Teams are plain numbers and have answers;
// communication from kernels does not exist on host memory, so asking for it is an error.
#include "hostnccl/api.h"

#include "hostnccl/border.h"
#include "hostnccl/process.h"

// Declared here, not taken from nccl_device.h, which is for code with kernels. The opaque arguments are
// pointers to structures that are never looked into.
extern "C" {
struct ncclTeam {
  int nRanks, rank, stride;
};
#pragma GCC visibility push(default)
ncclResult_t pncclDevCommCreate(ncclComm_t comm, const void* requirements, void* device_communicator);
ncclResult_t pncclDevCommDestroy(ncclComm_t comm, const void* device_communicator);
ncclResult_t pncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam team, int barriers, void* handle,
                                              void* requirement);
ncclResult_t pncclLsaBarrierCreateRequirement(ncclTeam team, int barriers, void* handle, void* requirement);
ncclResult_t pncclLLA2ACreateRequirement(int blocks, int slots, void* handle, void* requirement);
int pncclLLA2ACalcSlots(int max_elements, int max_element_size);
ncclTeam pncclTeamWorld(ncclComm_t comm);
ncclTeam pncclTeamLsa(ncclComm_t comm);
ncclTeam pncclTeamRail(ncclComm_t comm);
int pncclTeamRankToWorld(ncclComm_t comm, ncclTeam team, int rank);
int pncclTeamRankToLsa(ncclComm_t comm, ncclTeam team, int rank);
#pragma GCC visibility pop
}

namespace detccl::hostnccl {
namespace {

ncclResult_t no_kernels(const char* function) noexcept {
  return guarded([function]() -> ncclResult_t {
    throw Error(
        ncclInvalidUsage,
        std::string(function) + ": this NCCL works on host memory, there are no kernels to communicate from");
  });
}

/// All ranks; an unknown communicator has an empty team.
ncclTeam world(ncclComm_t comm) noexcept {
  ncclTeam team{0, 0, 1};
  guarded([&] {
    const auto communicator = process().registry.find(comm);
    team = {static_cast<int>(communicator->size()), static_cast<int>(communicator->rank()), 1};
    return ncclSuccess;
  });
  return team;
}

}  // namespace
}  // namespace detccl::hostnccl

using namespace detccl::hostnccl;

extern "C" {

ncclResult_t pncclDevCommCreate(ncclComm_t, const void*, void*) {
  return no_kernels("DevCommCreate");
}
ncclResult_t pncclDevCommDestroy(ncclComm_t, const void*) {
  return no_kernels("DevCommDestroy");
}
ncclResult_t pncclGinBarrierCreateRequirement(ncclComm_t, ncclTeam, int, void*, void*) {
  return no_kernels("GinBarrierCreateRequirement");
}
ncclResult_t pncclLsaBarrierCreateRequirement(ncclTeam, int, void*, void*) {
  return no_kernels("LsaBarrierCreateRequirement");
}
ncclResult_t pncclLLA2ACreateRequirement(int, int, void*, void*) {
  return no_kernels("LLA2ACreateRequirement");
}
int pncclLLA2ACalcSlots(int, int) {
  return 0;
}

ncclTeam pncclTeamWorld(ncclComm_t comm) {
  return world(comm);
}

/// Ranks whose memory can be loaded and stored directly: only the own.
ncclTeam pncclTeamLsa(ncclComm_t) {
  return {1, 0, 1};
}

/// One rank of each such set: all.
ncclTeam pncclTeamRail(ncclComm_t comm) {
  return world(comm);
}

int pncclTeamRankToWorld(ncclComm_t comm, ncclTeam team, int rank) {
  return world(comm).rank + (rank - team.rank) * team.stride;
}

int pncclTeamRankToLsa(ncclComm_t, ncclTeam team, int rank) {
  return (rank - team.rank) * team.stride;
}

}  // extern "C"

HOSTNCCL_EXPORT(ncclDevCommCreate);
HOSTNCCL_EXPORT(ncclDevCommDestroy);
HOSTNCCL_EXPORT(ncclGinBarrierCreateRequirement);
HOSTNCCL_EXPORT(ncclLsaBarrierCreateRequirement);
HOSTNCCL_EXPORT(ncclLLA2ACreateRequirement);
HOSTNCCL_EXPORT(ncclLLA2ACalcSlots);
HOSTNCCL_EXPORT(ncclTeamWorld);
HOSTNCCL_EXPORT(ncclTeamLsa);
HOSTNCCL_EXPORT(ncclTeamRail);
HOSTNCCL_EXPORT(ncclTeamRankToWorld);
HOSTNCCL_EXPORT(ncclTeamRankToLsa);
