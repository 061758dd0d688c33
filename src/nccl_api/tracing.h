// SPDX-License-Identifier: Apache-2.0
// Fingerprints of what operations are given and what they give, in the rank's trace file (DETCCL_TRACE).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "nccl_api/communicator.h"
#include "nccl_api/environment.h"
#include "nccl_api/queued_reduction.h"
#include "recorder/recorder.h"

namespace detccl::nccl_api {

/// An operation's arguments, as in its call.
struct TracedCall {
  trace::Kind kind = trace::Kind::all_reduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  int op = -1;    ///< reductions only
  int peer = -1;  ///< root or peer, if there is one
  cudaStream_t stream = nullptr;
};

/// One process's tracing. Any thread. On GPUs everything is put on the operation's stream.
class Tracing {
 public:
  /// Null unless the configuration asks for it.
  static std::unique_ptr<Tracing> make(const Configuration& configuration);
  explicit Tracing(const Configuration& configuration) : configuration_(configuration) {}

  /// A record on its way: its input has been looked at.
  struct Pending {
    TracedCall call;
    std::shared_ptr<Communicator> communicator;
    trace::Record record;
    std::vector<trace::ChunkTable> tables;
    std::uint64_t began_ns = 0;
    std::optional<GpuTracing::Operation> on_gpu;
  };
  /// Before the operation. Null where it is not to be recorded. `flags`: of trace::Record. `ours`: the
  /// reduction that is to be carried out, if it is one of ours; it may be given its recording.
  std::unique_ptr<Pending> before(std::shared_ptr<Communicator> communicator, const TracedCall& call,
                                  std::uint8_t flags, QueuedReduction* ours = nullptr);
  /// After it, its output being there. `pending` may be null.
  void after(std::unique_ptr<Pending> pending);

  /// On GPUs: allocates and loads what the communicator's operations need. Not in a capture.
  void prepare(Communicator& communicator);

  /// At the process's exit.
  void close();

 private:
  recorder::Recorder* recorder(const Communicator& first);
  void put_on_stream(Pending& pending, std::size_t in_bytes, std::size_t out_bytes, QueuedReduction* ours);
  void look_at(Pending& pending, const void* data, std::size_t bytes, bool is_output);
  std::uint64_t key_of(Communicator& communicator, recorder::Recorder& to);

  const Configuration configuration_;
  std::mutex mutex_;
  std::unique_ptr<recorder::Recorder> recorder_;
  std::unique_ptr<GpuTracing> gpu_;  ///< null on host memory
  std::uint64_t start_ns_ = 0;       ///< of the trace
  bool not_this_rank_ = false, closed_ = false;
};

/// The number of this process in its job, and of all processes, as the launcher says; otherwise `rank` and
/// `size`.
struct JobRank {
  std::uint32_t rank = 0, size = 0;
};
JobRank job_rank(std::uint32_t rank, std::uint32_t size);

}  // namespace detccl::nccl_api
