// SPDX-License-Identifier: Apache-2.0
// The reductions that NCCL has from 2.32 on once more, with a configuration for the call. Left to the real
// library they would go past the contract. What a configuration asks for is about time (channels, algorithms,
// a tag for profilers) and DetCCL has no use for it, except for the event. As a newer nccl.h declares them
// with types that 2.28's lacks, they have names of their own here, and NCCL's as symbols.
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

}  // namespace

#pragma GCC visibility push(default)

ncclResult_t all_reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                        const void* config) asm("ncclAllReduceConfig");
ncclResult_t reduce_scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                            ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                            const void* config) asm("ncclReduceScatterConfig");
ncclResult_t reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                    int root, ncclComm_t comm, cudaStream_t stream,
                    const void* config) asm("ncclReduceConfig");

ncclResult_t all_reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const void* config) {
  if (passes_through()) {
    static const Entry<decltype(all_reduce)> native(real().library, "ncclAllReduceConfig");
    return native(send, receive, count, type, op, comm, stream, config);
  }
  const ncclResult_t result = check(config);
  return result != ncclSuccess ? result : ncclAllReduce(send, receive, count, type, op, comm, stream);
}

ncclResult_t reduce_scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                            ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, const void* config) {
  if (passes_through()) {
    static const Entry<decltype(reduce_scatter)> native(real().library, "ncclReduceScatterConfig");
    return native(send, receive, count, type, op, comm, stream, config);
  }
  const ncclResult_t result = check(config);
  return result != ncclSuccess ? result : ncclReduceScatter(send, receive, count, type, op, comm, stream);
}

ncclResult_t reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                    int root, ncclComm_t comm, cudaStream_t stream, const void* config) {
  if (passes_through()) {
    static const Entry<decltype(reduce)> native(real().library, "ncclReduceConfig");
    return native(send, receive, count, type, op, root, comm, stream, config);
  }
  const ncclResult_t result = check(config);
  return result != ncclSuccess ? result : ncclReduce(send, receive, count, type, op, root, comm, stream);
}

extern decltype(all_reduce) p_all_reduce asm("pncclAllReduceConfig")
    __attribute__((alias("ncclAllReduceConfig")));
extern decltype(reduce_scatter) p_reduce_scatter asm("pncclReduceScatterConfig")
    __attribute__((alias("ncclReduceScatterConfig")));
extern decltype(reduce) p_reduce asm("pncclReduceConfig") __attribute__((alias("ncclReduceConfig")));

#pragma GCC visibility pop

}  // namespace detccl::nccl_api
