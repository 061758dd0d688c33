// SPDX-License-Identifier: Apache-2.0
// Samples reductions on GPUs (sample_choice.h): the same one runs natively beside DetCCL's, on its stream and
// into memory of its own, each after a barrier and between CUDA events, which a later call looks at. Natively
// means over DetCCL's own communicator, which knows the order of its operations by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/cuda/stream_engine.h"
#include "nccl_api/hello.h"
#include "nccl_api/queued_reduction.h"
#include "nccl_api/sample_choice.h"
#include "nccl_api/teller.h"

namespace detccl::nccl_api::gpu {

/// One rank's end of a communicator of several. One thread at a time.
class Sampler {
 public:
  /// Takes memory of the current device; as engine::cuda::Reserve, before the ranks first wait for each
  /// other.
  explicit Sampler(const Configuration& configuration);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Whether this rank can sample, for Hello::samples.
  bool able() const { return obstacle_ == nullptr; }

  /// From now on reductions may be sampled, if all ranks can. Both must outlive this. Collective; waits.
  void begin(std::span<const Hello> hellos, engine::cuda::StreamEngine& engine, Teller& teller);

  /// To be asked once for each reduction, in their order: how it is to be sampled. The same on all ranks,
  /// whatever else is in their groups: none of them is asked, and a rank that would not take part would be
  /// waited for.
  Sample due(const QueuedReduction& reduction);

  /// Puts both on the reduction's stream; `ours` does so with DetCCL's. Throws CudaError, NcclError, and what
  /// `ours` does.
  void run(const QueuedReduction& reduction, Sample sample, const std::function<void()>& ours);

 private:
  enum Time : std::uint8_t { ours_began, ours_ended, native_began, native_ended, kTimes };
  struct Pair {
    std::array<cudaEvent_t, kTimes> events{};
    engine::Reduction call;
    Sample sample = Sample::no;
  };

  const char* reason_against(const QueuedReduction& reduction) const;
  void reduce_natively(const engine::Reduction& call, void* result, cudaStream_t stream);
  void wait_for_ranks(cudaStream_t stream);
  void warm_up(std::uint32_t ranks);
  Pair* next_pair();
  void collect();
  void tell(const Pair& pair);

  SampleChoice choice_;
  const char* obstacle_ = nullptr;  ///< why nothing is sampled
  std::unique_ptr<engine::cuda::Memory> memory_;
  engine::cuda::StreamEngine* engine_ = nullptr;
  Teller* teller_ = nullptr;
  std::array<Pair, 64> pairs_;             ///< a ring
  std::size_t first_ = 0, under_way_ = 0;  ///< of it
};

}  // namespace detccl::nccl_api::gpu
