// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/settle.h"

#include <chrono>
#include <thread>

#include "nccl_api/runtime.h"

namespace detccl::nccl_api {

ncclResult_t settle(Communicator& communicator, ncclResult_t result) {
  while (result == ncclInProgress) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto polled = communicator.with_handle(
        [&result](ncclComm_t handle) { return real().CommGetAsyncError(handle, &result); });
    if (!polled) return communicator.stopped();
    if (*polled != ncclSuccess) return *polled;
  }
  return result;
}

}  // namespace detccl::nccl_api
