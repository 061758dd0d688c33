// SPDX-License-Identifier: Apache-2.0
// Moves regions of GPU memory between the ranks of a communicator of our own, in stream order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/nccl/nccl_functions.h"

namespace detccl::transport {

/// Holds a communicator that nobody else uses: its transfers cannot pair with a program's own.
/// Thread rule: one thread at a time, except for abort() and async_error(), which any thread may call at any
/// time. Transfers throw NcclError; nothing waits for the GPU, but a first transfer may wait for the peers'
/// threads.
class NcclExchange {
 public:
  /// Takes over `communicator`, which is blocking and ready. `functions` must outlive the exchange.
  NcclExchange(const NcclFunctions& functions, ncclComm_t communicator)
      : functions_(functions), communicator_(communicator) {}
  ~NcclExchange();  ///< aborts what destroy() has not ended
  NcclExchange(const NcclExchange&) = delete;
  NcclExchange& operator=(const NcclExchange&) = delete;

  const NcclFunctions& functions() const { return functions_; }

  /// Within an NcclGroup.
  void send(std::uint32_t peer, const void* data, std::size_t bytes, cudaStream_t stream);
  void receive(std::uint32_t peer, void* data, std::size_t bytes, cudaStream_t stream);
  /// Every rank's `bytes` bytes at `from` to `to`, in rank order; `from` may be its own place there.
  void all_gather(const void* from, void* to, std::size_t bytes, cudaStream_t stream);

  /// For what else NCCL can do with it; throws where it has been aborted.
  ncclComm_t communicator() const { return live(); }

  /// The end of a sound communicator: waits for what is under way on it. Collective.
  ncclResult_t destroy();
  /// The end in any other case: what is under way stops, also on the GPU.
  void abort();
  /// What NCCL found out by itself, e.g. that a peer died.
  ncclResult_t async_error() const;

 private:
  ncclComm_t live() const;  ///< throws where it has been aborted
  void check(ncclResult_t result, const char* what) const;

  const NcclFunctions& functions_;
  std::atomic<ncclComm_t> communicator_;
};

/// Transfers that belong together, of one or several exchanges: launched by end(). A group that is left
/// without end(), because something threw, is closed all the same, so that the thread's next group is a new
/// one.
class NcclGroup {
 public:
  explicit NcclGroup(const NcclFunctions& functions);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  void end();

 private:
  const NcclFunctions& functions_;
  bool open_ = true;
};

}  // namespace detccl::transport
