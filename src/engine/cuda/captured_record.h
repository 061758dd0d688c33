// SPDX-License-Identifier: Apache-2.0
// An event that a graph records, whenever it runs, behind the last of some operations that were captured into
// it.
#pragma once

#include <vector>

#include "engine/cuda/resources.h"

namespace detccl::engine::cuda {

/// One for each event. A record is a node of its own beside the stream's, which nothing in the graph waits
/// for, and one is enough for a graph: a node between two kernels takes more time than some kernels do, and
/// each one makes launching the graph slower.
class CapturedRecord {
 public:
  /// After what has been captured on `stream` so far, and no longer where it was before in the same capture.
  void move_to_end(cudaStream_t stream, CaptureId capture, cudaEvent_t event);

 private:
  cudaError_t move(cudaStream_t stream, CaptureId capture, cudaEvent_t event);

  CaptureId capture_ = 0;  ///< the last one
  cudaGraphNode_t node_ = nullptr;
  std::vector<cudaGraphNode_t> after_;  ///< what the node waits for
};

}  // namespace detccl::engine::cuda
