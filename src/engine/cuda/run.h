// SPDX-License-Identifier: Apache-2.0
// One communicator's batch on its way onto a stream.
#pragma once

#include <optional>
#include <vector>

#include "engine/cuda/part_events.h"
#include "engine/cuda/stream_engine.h"
#include "engine/stream/lanes.h"

namespace detccl::engine::cuda {

/// Everything goes to the first call's stream, and the others wait for it, except for folds that overlap the
/// next tick's transfers: those go to a side stream. With several lanes, all but the first have a stream of
/// their own each, which begins and ends with the first call's.
class Run final : private stream::Machine {
 public:
  explicit Run(const Work& work);

  int device() const { return engine_.device(); }
  std::uint32_t ticks() const;  ///< of the longest lane
  std::size_t lanes() const { return batches_.size(); }

  // In this order, on the engine's device:
  void begin();
  /// `lane`: less than lanes(). All lanes' ticks, and then the next one's.
  void turn_to(std::uint32_t tick, std::size_t lane);
  bool has_transfers() const { return batch().has_transfers(); }
  bool is_one_gather() const { return batch().is_one_gather(); }
  void exchange();  ///< within an NcclGroup, unless it is one all-gather
  void hand_on();   ///< after the group
  void fold();
  void end();

 private:
  void send(std::uint32_t peer, const void* data, std::size_t bytes) override;
  void receive(std::uint32_t peer, void* data, std::size_t bytes) override;
  void all_gather(const void* from, void* to, std::size_t bytes) override;
  void fold(const device::host::Arithmetic& arithmetic, std::span<const device::host::Operand> operands,
            void* result, plan::Form form, std::uint64_t count) override;

  std::vector<stream::Task> tasks_of(const Work& work) const;
  void wait_for_folds(std::uint32_t tick);
  void mark(stream::Part part);
  const stream::Batch& batch() const { return batches_[lane_]; }
  cudaStream_t stream(std::size_t lane) const { return lane == 0 ? main_ : streams_[lane - 1]; }
  std::byte* scratch() const;
  transport::NcclExchange& channel() const;

  StreamEngine& engine_;
  std::size_t first_lane_;                        ///< of the engine's
  PartEvents* parts_;                             ///< null: not timed
  std::optional<recorder::Recording> recording_;  ///< that its one fold leaves
  std::vector<stream::Batch> batches_;            ///< by lane
  cudaStream_t main_;
  std::vector<cudaStream_t> streams_;  ///< of lanes 1, 2 …
  std::size_t lane_ = 0;
  std::vector<cudaStream_t> others_;  ///< the other calls', each once
  CaptureId capture_ = 0;
  cudaStream_t side_ = nullptr;  ///< for overlapped folds
  std::uint32_t tick_ = 0;
  std::optional<std::uint32_t>
      unwaited_;  ///< the last tick with folds that the main stream has not waited for
  std::optional<std::uint32_t> earlier_;  ///< likewise, the one before that
};

}  // namespace detccl::engine::cuda
