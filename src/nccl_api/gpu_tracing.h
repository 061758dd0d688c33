// SPDX-License-Identifier: Apache-2.0
// The recording of operations on GPUs: everything in stream order, nothing waits. What is behind it is in
// gpu/; a build without CUDA has none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "nccl_api/nccl_headers.h"
#include "recorder/detail.h"
#include "recorder/recorder.h"
#include "recorder/sites.h"

namespace detccl::nccl_api {

class Communicator;

/// What a communicator has for it.
class GpuTraced {
 public:
  virtual ~GpuTraced() = default;
};

/// One process's. Any thread; operations of one communicator come one at a time. What goes wrong is logged,
/// and its operation counted as lost.
class GpuTracing {
 public:
  virtual ~GpuTracing() = default;

  /// Allocates and loads what operations of the communicator need; before they come, or with the first one.
  virtual void prepare(Communicator& communicator) = 0;

  struct Operation {
    std::shared_ptr<GpuTraced> communicator;
    recorder::SiteTable::Place place;
    cudaStream_t stream = nullptr;
    std::uint64_t output_bytes = 0;
    std::uint64_t capture = 0;         ///< the graph that the stream is being captured into; 0: none
    std::uint64_t* counter = nullptr;  ///< in the device's memory, as are these:
    recorder::Accumulator* accumulator = nullptr;
    recorder::Details details;  ///< instead, where records are detailed
    /// Set where the operation's own kernel is to record it: with this.
    std::optional<recorder::Recording> recording = {};
  };
  /// The input's digest goes on the stream, unless the operation's kernel is to record it: where it can
  /// (`records`), and records are not detailed. `site`: `captured` and `communicator` are set here.
  virtual std::optional<Operation> before(Communicator& communicator, recorder::Site site, const void* input,
                                          cudaStream_t stream, bool records) = 0;
  /// The output's digest, and the record, likewise. In the order of the calls of before(), for one
  /// communicator.
  virtual void after(const Operation& operation, const void* output) = 0;

  /// At the process's exit: takes the records that are there, and those that are about to be.
  virtual void close() = 0;
};

namespace gpu {
/// Null in a build without CUDA.
std::unique_ptr<GpuTracing> make_tracing(recorder::Recorder& recorder);
}  // namespace gpu

}  // namespace detccl::nccl_api
