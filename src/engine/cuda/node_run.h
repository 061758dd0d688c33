// SPDX-License-Identifier: Apache-2.0
// AllReduces over nodes on their way onto streams.
#pragma once

#include <span>
#include <vector>

#include "engine/cuda/stream_engine.h"

namespace detccl::engine::cuda {

class NodeRun {
 public:
  /// Whether some of `work`'s communicators have calls that go over nodes, …
  static bool any(std::span<const Work> work);
  /// … and whether all calls of a batch do, which cut() has made.
  static bool takes(const Work& batch);
  /// The communicator's calls in their order, in batches that go over nodes or by plans as a whole: the same
  /// ones on every rank.
  static std::vector<Work> cut(const Work& work);

  /// Those of `work`, each as cut() has made it, that go over nodes: call by call, all communicators
  /// together, for one thread may have several ranks of one.
  static void enqueue(std::span<const Work> work);

 private:
  struct Call;
  static void begin(Call& call);
  static void collect(std::span<const Call> calls);
  static void end(Call& call);
};

}  // namespace detccl::engine::cuda
