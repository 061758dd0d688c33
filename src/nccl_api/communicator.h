// SPDX-License-Identifier: Apache-2.0
// What DetCCL knows of one of the user's communicators. The handle stays the real library's; this stands
// beside it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "contract/types.h"
#include "engine/reduction.h"
#include "nccl_api/gpu_shadow.h"
#include "nccl_api/gpu_tracing.h"
#include "nccl_api/nccl_headers.h"
#include "nccl_api/sampling.h"
#include "nccl_api/teller.h"
#include "trace/tables.h"
#include "transport/exchange.h"

namespace detccl::nccl_api {

/// An operation made by ncclRedOpCreatePreMulSum.
struct PreMulSum {
  contract::DataType type = contract::DataType::float32;
  std::uint64_t bits = 0;        ///< the factor, where it was read at creation
  const void* memory = nullptr;  ///< else where it is read when a reduction runs
};

/// Reads a factor of type `type`: its bit pattern.
std::uint64_t read_scalar(contract::DataType type, const void* memory);

/// What reductions on host memory run over once the ranks have found each other.
struct Shadow {
  /// `plans`: where they come from; another source in tests.
  Shadow(std::unique_ptr<transport::Exchange> e, const engine::Settings& settings,
         engine::PlanSource plans = plan::build)
      : exchange(std::move(e)),
        scratch(settings.scratch_limit),
        planner(settings, exchange->rank(), exchange->size(), std::move(plans)),
        sampling({0, 0}, exchange->size()) {}
  std::unique_ptr<transport::Exchange> exchange;
  engine::Scratch scratch;
  engine::Planner planner;
  std::uint32_t sequence = 0;  ///< of the next reduction
  Sampling sampling;
  std::unique_ptr<Teller> teller;  ///< null: nobody is told
};

class Communicator {
 public:
  Communicator(ncclComm_t handle, int rank, int ranks, bool blocking)
      : handle_(handle), rank_(rank), ranks_(ranks), blocking_(blocking) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  ncclComm_t handle() const { return handle_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool blocking() const { return blocking_; }
  std::string name() const;  ///< "rank 3 of 8", for messages

  /// Marks the communicator as in use by a reduction or connection of this thread; false if it is in use.
  bool enter();
  void leave();

  /// Only between enter() and leave(). Null until connected.
  Shadow* shadow() { return shadow_.get(); }
  void set_shadow(std::unique_ptr<Shadow> shadow) { shadow_ = std::move(shadow); }

  /// Who it is in a trace. Its key is 0 until it is first asked for; changed only before that.
  trace::Communicator& identity() { return identity_; }

  /// On GPUs; null until connected, and after the end. Any thread.
  std::shared_ptr<GpuShadow> gpu() const;
  void set_gpu(std::shared_ptr<GpuShadow> shadow);
  std::shared_ptr<GpuShadow> take_gpu();

  /// What records of its operations on a GPU need; null before the first. Any thread.
  std::shared_ptr<GpuTraced> gpu_traced() const;
  void set_gpu_traced(std::shared_ptr<GpuTraced> traced);

  /// From now on its reductions are native, which is the user's choice (DETCCL_FALLBACK=native).
  /// Whether that is new.
  bool make_native() { return !native_.exchange(true); }
  bool native() const { return native_; }

  /// The first error sticks: every later reduction returns it, and ncclCommGetAsyncError reports it.
  void set_error(ncclResult_t code);
  ncclResult_t error() const { return error_; }

  /// Ends what runs on the communicator in other threads, with `code`; nothing of it calls the real library
  /// with the handle afterwards, except a call that has begun.
  void stop(ncclResult_t code);
  /// ncclSuccess, or what stop() was told.
  ncclResult_t stopped() const { return stopped_; }
  /// Waits until no reduction or connection is under way, stops for good, and gives the shadow away.
  std::unique_ptr<Shadow> retire();
  /// As retire(), but false where something is under way.
  bool try_retire(std::unique_ptr<Shadow>& shadow);

  /// Calls `use(handle)`, unless the communicator has been stopped. stop() waits for it, so it must be short.
  std::optional<ncclResult_t> with_handle(const std::function<ncclResult_t(ncclComm_t)>& use);

  void add_op(ncclRedOp_t op, const PreMulSum& definition);
  void remove_op(ncclRedOp_t op);
  std::optional<PreMulSum> find_op(ncclRedOp_t op) const;

 private:
  std::unique_ptr<Shadow> end_with_lock();

  const ncclComm_t handle_;
  const int rank_, ranks_;
  const bool blocking_;
  std::unique_ptr<Shadow> shadow_;
  std::shared_ptr<GpuShadow> gpu_;
  std::shared_ptr<GpuTraced> gpu_traced_;
  trace::Communicator identity_;
  std::atomic<bool> native_{false};
  std::atomic<ncclResult_t> error_{ncclSuccess};
  std::atomic<ncclResult_t> stopped_{ncclSuccess};
  mutable std::mutex mutex_;
  std::condition_variable left_;
  bool busy_ = false;
  std::map<int, PreMulSum> ops_;
};

}  // namespace detccl::nccl_api
