// SPDX-License-Identifier: Apache-2.0
// One rank's end of a group that reduces over peer memory (docs/peer.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/cuda/peer/peer.h"
#include "engine/cuda/resources.h"
#include "engine/reduction.h"
#include "transport/nccl/nccl_exchange.h"
#include "transport/peer/peer_memory.h"

namespace detccl::engine::cuda {

struct Reserve;

struct PeerSettings {
  std::uint32_t blocks = 8;                 ///< thread blocks of a rank's kernel; the same on every rank
  std::uint64_t timeout = 600'000'000'000;  ///< nanoseconds that a kernel waits for a peer
  std::uint64_t host = 0;                   ///< of this rank: the same number for ranks of one host
  std::string problem;                      ///< why this rank cannot take part, if the caller knows
  /// Waits on the host for the communicator's other ranks in this process; each calls it as often. What one
  /// of them allocates or maps may wait for kernels of another one that wait for this one: so all do that
  /// before any of them goes on.
  std::function<void()> meet = [] {};
};

/// Thread rule: one thread at a time, except for failure() and abort(). The device must be current.
class PeerGroup {
 public:
  /// Collective, on the current device; `reserve`: as for all_gather_host(). Throws std::invalid_argument
  /// with the reason where a rank cannot take part: then on every rank, with the same reason, and nothing is
  /// left behind (but access between GPUs, where a process has several).
  PeerGroup(const PeerSettings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers,
            Reserve& reserve, transport::NcclExchange& exchange);
  /// Ends as after abort() unless finish() has been called.
  ~PeerGroup();
  PeerGroup(const PeerGroup&) = delete;
  PeerGroup& operator=(const PeerGroup&) = delete;

  const device::cuda::peer::Layout& layout() const { return layout_; }

  /// Whether the reduction's kernel is to record it.
  bool records(const Reduction& call, const device::host::Arithmetic& arithmetic) const;
  /// Puts a reduction on `stream`. `recording`: where records() says so; or null. Throws CudaError, or
  /// std::runtime_error after a failure.
  void enqueue(const Reduction& call, const device::host::Arithmetic& arithmetic, cudaStream_t stream,
               const recorder::Recording* recording);

  /// What has stopped a kernel; none for sound ones. Any thread.
  device::cuda::peer::Failure failure() const;
  /// Ends kernels that wait. Any thread.
  void abort();
  /// Waits until what is on `stream` is done and no other rank writes here any more, if no rank enqueues
  /// anything further. Only then is the region given back in the end.
  void finish(cudaStream_t stream);

 private:
  struct HostMemory {
    explicit HostMemory(bool wanted);
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    device::cuda::peer::HostWords* words = nullptr;  ///< null where `error` says why
    cudaError_t error = cudaSuccess;
  };

  device::cuda::peer::Layout layout_;
  HostMemory host_;
  transport::PeerMemory memory_;
  device::cuda::peer::Endpoint endpoint_;
  bool finished_ = false;
};

/// As PeerGroup(); the communicator's ranks in this process meet at the end.
std::unique_ptr<PeerGroup> make_peers(const PeerSettings& settings, std::uint32_t rank, std::uint32_t ranks,
                                      bool gathers, Reserve& reserve, transport::NcclExchange& exchange);

}  // namespace detccl::engine::cuda
