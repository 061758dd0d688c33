// SPDX-License-Identifier: Apache-2.0
// Keeps the operations of one communicator in the order in which they were handed over, whichever streams
// they are on: ours and native ones run over different communicators of NCCL, which knows the order of each
// only by itself. Two at once could wait for each other for ever, or share scratch.
#pragma once

#include <mutex>

#include "engine/cuda/captured_record.h"

namespace detccl::engine::cuda {

/// Any thread. Eager work, captured work, and any mixture: what is captured waits, whenever its graph runs,
/// for what was handed over last by then.
class Order {
 public:
  /// To be called before an operation is put on `stream`, which is being captured into `capture`, …
  void before(cudaStream_t stream, CaptureId capture);
  /// … and after it. `later`: it is going to be put there by another thread, before the next call of
  /// before().
  void after(cudaStream_t stream, CaptureId capture, bool later = false);

 private:
  void record(cudaStream_t stream, CaptureId capture);

  std::mutex mutex_;
  Event last_;  ///< the operation handed over last, where nothing is captured or another graph waits
  CapturedRecord in_graph_;  ///< of last_
  Event last_in_graph_;      ///< likewise, within a graph that is being captured
  cudaStream_t stream_ = nullptr;
  StreamId identity_ = 0;  ///< its number: a stream's address may be another one's later
  CaptureId capture_ = 0;
  bool any_capture_ = false;  ///< graphs may run at any time, unseen
  bool any_ = false;
  bool pending_ = false;  ///< not recorded yet
};

}  // namespace detccl::engine::cuda
