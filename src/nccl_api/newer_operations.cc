// SPDX-License-Identifier: Apache-2.0
// What DetCCL must see of NCCL after 2.28 beside the reductions: operations, for they have their place in the
// order of a communicator's operations, and new communicators. They have names of their own here and NCCL's
// as symbols, as a newer nccl.h declares them with types that 2.28's lacks.
#include "nccl_api/creation.h"
#include "nccl_api/operate.h"

namespace detccl::nccl_api {
namespace {

/// A function of the real library that ends with a configuration, as one without.
template <class Signature>
auto with(const Entry<Signature>& function, const void* config) {
  return [&function, config](auto... arguments) { return function(arguments..., config); };
}

bool is_blocking(ncclComm_t parent, const ncclConfig_t* config) {
  if (config != nullptr) return config->blocking != 0;  // it inherits nothing
  const auto communicator = parent == nullptr ? nullptr : runtime().communicators.find(parent);
  return parent == nullptr || (communicator != nullptr && communicator->blocking());
}

}  // namespace

#pragma GCC visibility push(default)

ncclResult_t grow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* grown,
                  ncclConfig_t* config) asm("ncclCommGrow");
ncclResult_t put_signal(const void* local, std::size_t count, ncclDataType_t type, int peer,
                        ncclWindow_t window, std::size_t offset, int signal, int context, unsigned flags,
                        ncclComm_t comm, cudaStream_t stream) asm("ncclPutSignal");
ncclResult_t send_signal(int peer, int signal, int context, unsigned flags, ncclComm_t comm,
                         cudaStream_t stream) asm("ncclSignal");
ncclResult_t wait_signal(int count, void* signals, ncclComm_t comm,
                         cudaStream_t stream) asm("ncclWaitSignal");
ncclResult_t broadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream, const void* config) asm("ncclBroadcastConfig");
ncclResult_t all_gather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclComm_t comm, cudaStream_t stream, const void* config) asm("ncclAllGatherConfig");
ncclResult_t all_to_all(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclComm_t comm, cudaStream_t stream, const void* config) asm("ncclAlltoAllConfig");
ncclResult_t gather(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                    ncclComm_t comm, cudaStream_t stream, const void* config) asm("ncclGatherConfig");
ncclResult_t scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                     ncclComm_t comm, cudaStream_t stream, const void* config) asm("ncclScatterConfig");

ncclResult_t grow(ncclComm_t comm, int ranks, const ncclUniqueId* id, int rank, ncclComm_t* grown,
                  ncclConfig_t* config) {
  static const Entry<decltype(grow)> native(real().library, "ncclCommGrow");
  if (passes_through()) return native(comm, ranks, id, rank, grown, config);
  return guarded([&] {
    if (const ncclResult_t bad = check_environment(); bad != ncclSuccess) return Group::current().poison(bad);
    const bool blocking = is_blocking(comm, config);
    const NewCommunicator made[] = {{grown, name_in(config)}};
    return created(native(comm, ranks, id, rank, grown, config), made, blocking);
  });
}

ncclResult_t put_signal(const void* local, std::size_t count, ncclDataType_t type, int peer,
                        ncclWindow_t window, std::size_t offset, int signal, int context, unsigned flags,
                        ncclComm_t comm, cudaStream_t stream) {
  static const Entry<decltype(put_signal)> native(real().library, "ncclPutSignal");
  return operate(nullptr, native, comm, stream, local, count, type, peer, window, offset, signal, context,
                 flags);
}

ncclResult_t send_signal(int peer, int signal, int context, unsigned flags, ncclComm_t comm,
                         cudaStream_t stream) {
  static const Entry<decltype(send_signal)> native(real().library, "ncclSignal");
  return operate(nullptr, native, comm, stream, peer, signal, context, flags);
}

ncclResult_t wait_signal(int count, void* signals, ncclComm_t comm, cudaStream_t stream) {
  static const Entry<decltype(wait_signal)> native(real().library, "ncclWaitSignal");
  return operate(nullptr, native, comm, stream, count, signals);
}

ncclResult_t broadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream, const void* config) {
  static const Entry<decltype(broadcast)> native(real().library, "ncclBroadcastConfig");
  return operate(nullptr, with(native, config), comm, stream, send, receive, count, type, root);
}

ncclResult_t all_gather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclComm_t comm, cudaStream_t stream, const void* config) {
  static const Entry<decltype(all_gather)> native(real().library, "ncclAllGatherConfig");
  return operate(nullptr, with(native, config), comm, stream, send, receive, count, type);
}

ncclResult_t all_to_all(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclComm_t comm, cudaStream_t stream, const void* config) {
  static const Entry<decltype(all_to_all)> native(real().library, "ncclAlltoAllConfig");
  return operate(nullptr, with(native, config), comm, stream, send, receive, count, type);
}

ncclResult_t gather(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                    ncclComm_t comm, cudaStream_t stream, const void* config) {
  static const Entry<decltype(gather)> native(real().library, "ncclGatherConfig");
  return operate(nullptr, with(native, config), comm, stream, send, receive, count, type, root);
}

ncclResult_t scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                     ncclComm_t comm, cudaStream_t stream, const void* config) {
  static const Entry<decltype(scatter)> native(real().library, "ncclScatterConfig");
  return operate(nullptr, with(native, config), comm, stream, send, receive, count, type, root);
}

extern decltype(grow) p_grow asm("pncclCommGrow") __attribute__((alias("ncclCommGrow")));
extern decltype(put_signal) p_put_signal asm("pncclPutSignal") __attribute__((alias("ncclPutSignal")));
extern decltype(send_signal) p_send_signal asm("pncclSignal") __attribute__((alias("ncclSignal")));
extern decltype(wait_signal) p_wait_signal asm("pncclWaitSignal") __attribute__((alias("ncclWaitSignal")));
extern decltype(broadcast) p_broadcast asm("pncclBroadcastConfig")
    __attribute__((alias("ncclBroadcastConfig")));
extern decltype(all_gather) p_all_gather asm("pncclAllGatherConfig")
    __attribute__((alias("ncclAllGatherConfig")));
extern decltype(all_to_all) p_all_to_all asm("pncclAlltoAllConfig")
    __attribute__((alias("ncclAlltoAllConfig")));
extern decltype(gather) p_gather asm("pncclGatherConfig") __attribute__((alias("ncclGatherConfig")));
extern decltype(scatter) p_scatter asm("pncclScatterConfig") __attribute__((alias("ncclScatterConfig")));

#pragma GCC visibility pop

}  // namespace detccl::nccl_api
