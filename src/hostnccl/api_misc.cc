// SPDX-License-Identifier: Apache-2.0
// The C border: groups, errors, the user's operations.
#include "hostnccl/api.h"

#include <string>

#include "hostnccl/arguments.h"
#include "hostnccl/border.h"
#include "hostnccl/group.h"
#include "hostnccl/process.h"

namespace detccl::hostnccl {
namespace {

constexpr unsigned int kSimInfoMagic = 0x74685283;

thread_local std::string returned_error;

/// The communicator's own failure, if it is given and has failed, else the thread's last error.
const char* error_text(ncclComm_t comm) noexcept {
  try {
    returned_error = last_error();
    if (comm == nullptr) return returned_error.c_str();
    const std::string failure = process().registry.find(comm)->failure_text();
    if (!failure.empty()) returned_error = failure;
  } catch (const std::exception&) {
    // An unknown communicator has no failure of its own.
  }
  return returned_error.c_str();
}

}  // namespace
}  // namespace detccl::hostnccl

using namespace detccl::hostnccl;

extern "C" {

ncclResult_t pncclGetVersion(int* version) {
  return guarded([&] {
    if (version == nullptr) throw Error(ncclInvalidArgument, "the pointer to the version is NULL");
    *version = NCCL_VERSION(2, 28, 9);
    return ncclSuccess;
  });
}

const char* pncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* pncclGetLastError(ncclComm_t comm) {
  return error_text(comm);
}

void pncclResetDebugInit() {
}  // NCCL_DEBUG is read at every message

ncclResult_t pncclGroupStart() {
  return guarded([] {
    Group::current().start();
    return ncclSuccess;
  });
}

ncclResult_t pncclGroupEnd() {
  return Group::current().end();
}

ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* simInfo) {
  // The time that the group would take is not known: estimatedTime stays undefined.
  const ncclResult_t checked = guarded([&] {
    if (simInfo != nullptr && simInfo->magic != kSimInfoMagic) {
      throw Error(ncclInvalidArgument, "an ncclSimInfo_t must be initialised with NCCL_SIM_INFO_INITIALIZER");
    }
    return ncclSuccess;
  });
  const ncclResult_t ended = Group::current().simulate_end();
  return checked != ncclSuccess ? checked : ended;
}

ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                       ncclScalarResidence_t residence, ncclComm_t comm) {
  return guarded([&] {
    const auto communicator = process().registry.find(comm);
    if (op == nullptr) throw Error(ncclInvalidArgument, "the pointer to the new operation is NULL");
    *op = create_user_op(*communicator, scalar, datatype, residence);
    return ncclSuccess;
  });
}

ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return guarded([&] {
    destroy_user_op(*process().registry.find(comm), op);
    return ncclSuccess;
  });
}

/// By this an interposer knows that the library under it works on host memory.
__attribute__((visibility("default"))) const char* detcclHostNcclVersion(void) {
  return DETCCL_VERSION;
}

}  // extern "C"

HOSTNCCL_EXPORT(ncclGetVersion);
HOSTNCCL_EXPORT(ncclGetErrorString);
HOSTNCCL_EXPORT(ncclGetLastError);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
HOSTNCCL_EXPORT(ncclResetDebugInit);
#pragma GCC diagnostic pop
HOSTNCCL_EXPORT(ncclGroupStart);
HOSTNCCL_EXPORT(ncclGroupEnd);
HOSTNCCL_EXPORT(ncclGroupSimulateEnd);
HOSTNCCL_EXPORT(ncclRedOpCreatePreMulSum);
HOSTNCCL_EXPORT(ncclRedOpDestroy);
