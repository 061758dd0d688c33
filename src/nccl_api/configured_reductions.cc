// SPDX-License-Identifier: Apache-2.0
// The reductions that NCCL has from 2.32 on once more, with a configuration for the call. Left to the real
// library they would go past the contract. What a configuration asks for is about time (channels, algorithms,
// a tag for profilers) and DetCCL has no use for it, except for the event.
#include <cstdint>

#include "nccl_api/border.h"
#include "nccl_api/group.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

/// ncclCollConfig_t of 2.32. Later ones only grow, and say so in `size`.
struct CollectiveConfig {
  std::size_t size;
  unsigned magic, version;
  const void* extensions;
  int min_ctas, max_ctas, nvls_ctas, cluster_size;
  const char* algorithms;
  int force_algorithms, cta_policy;
  std::uint64_t profiler_tag;
  const void* launch_event;
};

/// An event that nobody records would let those who wait for it go on too early.
ncclResult_t check(const void* config) {
  const auto* given = static_cast<const CollectiveConfig*>(config);
  if (given == nullptr || given->size < sizeof *given || given->launch_event == nullptr) return ncclSuccess;
  return guarded([] {
    return Group::current().poison(
        fail(ncclInvalidUsage, "a reduction with a launchCompletionEvent: DetCCL does not record it"));
  });
}

/// The real library's function, where calls go straight to it.
template <class Signature>
const Entry<Signature> real_function(const char* name) {
  return {real().library, name};
}

}  // namespace
}  // namespace detccl::nccl_api

using detccl::nccl_api::check;
using detccl::nccl_api::passes_through;
using detccl::nccl_api::real_function;

extern "C" {

#pragma GCC visibility push(default)

ncclResult_t ncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                                 ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const void* config) {
  if (passes_through()) {
    static const auto function = real_function<decltype(ncclAllReduceConfig)>("ncclAllReduceConfig");
    return function(sendbuff, recvbuff, count, datatype, op, comm, stream, config);
  }
  const ncclResult_t result = check(config);
  return result != ncclSuccess ? result
                               : ncclAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream);
}

ncclResult_t ncclReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount,
                                     ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                     cudaStream_t stream, const void* config) {
  if (passes_through()) {
    static const auto function = real_function<decltype(ncclReduceScatterConfig)>("ncclReduceScatterConfig");
    return function(sendbuff, recvbuff, recvcount, datatype, op, comm, stream, config);
  }
  const ncclResult_t result = check(config);
  if (result != ncclSuccess) return result;
  return ncclReduceScatter(sendbuff, recvbuff, recvcount, datatype, op, comm, stream);
}

ncclResult_t ncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                              ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                              const void* config) {
  if (passes_through()) {
    static const auto function = real_function<decltype(ncclReduceConfig)>("ncclReduceConfig");
    return function(sendbuff, recvbuff, count, datatype, op, root, comm, stream, config);
  }
  const ncclResult_t result = check(config);
  return result != ncclSuccess ? result
                               : ncclReduce(sendbuff, recvbuff, count, datatype, op, root, comm, stream);
}

decltype(ncclAllReduceConfig) pncclAllReduceConfig __attribute__((alias("ncclAllReduceConfig")));
decltype(ncclReduceScatterConfig) pncclReduceScatterConfig __attribute__((alias("ncclReduceScatterConfig")));
decltype(ncclReduceConfig) pncclReduceConfig __attribute__((alias("ncclReduceConfig")));

#pragma GCC visibility pop
}
