// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "nccl_api/border.h"
#include "nccl_api/runtime.h"
#include "nccl_api/teller.h"

#pragma GCC visibility push(default)
#include "detccl/detccl.h"
#pragma GCC visibility pop

namespace detccl::nccl_api {
namespace {

ncclResult_t contract_of(ncclComm_t comm, char* text, std::size_t size) {
  int ranks = 0;
  const ncclResult_t known = real().CommCount(comm, &ranks);
  if (known != ncclSuccess) return known;
  const Configuration& configuration = runtime().environment.configuration();
  const auto communicator = runtime().communicators.find(comm);
  const bool refused = !runtime().on_host && gpu::unavailable() != nullptr;
  if (configuration.disable || refused || (communicator != nullptr && communicator->native()))
    return fail(ncclInvalidUsage, "detcclCommContract: the communicator's reductions are not DetCCL's");
  const std::string contract = contract::to_string(configuration.contract);
  if (text == nullptr || size <= contract.size())
    return fail(ncclInvalidArgument, "detcclCommContract: text is NULL or too small");
  text[contract.copy(text, contract.size())] = '\0';
  return ncclSuccess;
}

}  // namespace
}  // namespace detccl::nccl_api

extern "C" {

/// For a profiler in the same process: profile::Observe.
__attribute__((visibility("default"))) void detcclObserve(detccl::profile::Observer observer);
void detcclObserve(detccl::profile::Observer observer) {
  detccl::nccl_api::set_observer(observer);
}

const char* detcclVersion(void) {
  return DETCCL_VERSION;
}

ncclResult_t detcclCommContract(ncclComm_t comm, char* text, size_t size) {
  return detccl::nccl_api::guarded([=] { return detccl::nccl_api::contract_of(comm, text, size); });
}
}
