// SPDX-License-Identifier: Apache-2.0
// Runs the reductions of one communicator on CUDA streams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/node_group.h"
#include "engine/cuda/order.h"
#include "engine/cuda/peer_group.h"
#include "engine/stream/task_source.h"
#include "transport/nccl/nccl_exchange.h"

namespace detccl::engine::cuda {

class PartEvents;

/// A reduction and the stream that it is to be in order with.
struct StreamCall {
  Reduction call;
  cudaStream_t stream = nullptr;
  /// Where StreamEngine::records() says so: the record that its kernel leaves.
  std::optional<recorder::Recording> recording = {};
};

/// What a rank's end of a communicator needs of the current device, made before its ranks first wait for each
/// other on GPUs and kept until its end: freeing memory and loading kernels wait for every kernel on the
/// device, also for those of another rank of this process that wait for this one.
struct Reserve {
  /// `greeting_bytes`: of the memory that all_gather_host() and StreamEngine::warm_up() use. `peers`: whether
  /// StreamEngine::use_peers() may be called. `lanes`: of the engine, see StreamEngine::add_lane().
  Reserve(std::size_t scratch_bytes, std::size_t greeting_bytes, std::size_t product_bytes, bool peers,
          std::uint32_t lanes = 1);

  int device;
  Memory scratch, greeting;
  Memory products;  ///< of PreMulSums
  SideStreams side_streams;
  std::vector<std::unique_ptr<SideStreams>> lane_streams;  ///< of lanes 1, 2 …
};

/// What warm_up() needs of Reserve::greeting, bytes.
std::size_t warm_up_bytes(const Settings& settings, std::uint32_t ranks);

/// One rank's end of a communicator. Nothing is allocated after its construction (except a stream, where many
/// captures are under way at the same time).
/// Thread rule: one thread at a time, except for the exchanges' any-thread functions, abort() and order().
class StreamEngine {
 public:
  /// `exchange`: null over one rank. `gathers`: whether all-gathers may be used, the same on every rank.
  StreamEngine(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers,
               std::unique_ptr<transport::NcclExchange> exchange, std::unique_ptr<Reserve> reserve);
  /// What nothing has ended is aborted.
  ~StreamEngine() {
    if (exchanges_.size() > 1 || nodes_ != nullptr) abort();
  }
  StreamEngine(const StreamEngine&) = delete;
  StreamEngine& operator=(const StreamEngine&) = delete;

  int device() const { return reserve_->device; }
  /// A lane's; null over one rank.
  transport::NcclExchange* exchange(std::size_t lane = 0) { return exchanges_[lane].get(); }
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(exchanges_.size()); }
  /// One more lane (stream/lanes.h), of those that the reserve has been made for: the same number on every
  /// rank, before warm_up().
  void add_lane(std::unique_ptr<transport::NcclExchange> exchange) {
    exchanges_.push_back(std::move(exchange));
  }
  bool gathers() const { return gathers_; }
  Order& order() { return order_; }
  Reserve& reserve() { return *reserve_; }

  /// From now on reductions go over peer memory. Collective, over two ranks or more, before warm_up(). Throws
  /// as PeerGroup().
  void use_peers(const PeerSettings& settings);
  /// Null: they do not.
  PeerGroup* peers() const { return peers_.get(); }
  /// Whether the reduction's last kernel is to record it; `alone`: whether it is handed over by itself. Any
  /// thread.
  bool records(const Reduction& call, bool alone) const;

  /// From now on AllReduces go over nodes where they can. Before warm_up(), the same on every rank.
  void use_nodes(std::unique_ptr<NodeGroup> nodes) { nodes_ = std::move(nodes); }
  /// Null: they do not.
  NodeGroup* nodes() const { return nodes_.get(); }

  /// Whose kernels may wait for other ranks': peers(), or the node's. Null: none's.
  PeerGroup* waiting_peers() const { return nodes_ != nullptr ? nodes_->peers.get() : peers_.get(); }
  /// Its end in a sound engine, before the exchanges'. Waits.
  void finish_peers();

  /// All there are: the lanes', the node's, the rails'. In the same order on every rank.
  std::vector<transport::NcclExchange*> exchanges() const;
  /// Of all exchanges. Any thread.
  void abort();

  /// Connects to the peers that reductions need. Waits. Collective.
  void warm_up();

 private:
  void warm_up_nodes(cudaStream_t stream);
  bool is_one_fold(const Reduction& call) const;

  friend class NodeRun;
  friend class Run;
  friend class ScaledRun;
  friend class PeerRun;
  static constexpr std::size_t kFoldEvents = 3;

  Settings settings_;
  std::uint32_t rank_, ranks_;
  bool gathers_;
  std::unique_ptr<Reserve> reserve_;
  std::vector<std::unique_ptr<transport::NcclExchange>> exchanges_;  ///< by lane
  stream::TaskSource tasks_;
  Order order_;
  Event joined_, exchanged_;
  std::array<Event, kFoldEvents> folded_;  ///< by tick
  std::unique_ptr<PeerGroup> peers_;
  std::unique_ptr<NodeGroup> nodes_;
};

/// To everyone everyone's `bytes` bytes, in rank order, of which the own ones are in their place. Within an
/// NcclGroup.
void all_gather(transport::NcclExchange& exchange, std::uint32_t rank, std::uint32_t ranks, bool gathers,
                std::byte* all, std::size_t bytes, cudaStream_t stream);

/// Everyone's `bytes` bytes of host memory, in rank order; reserve.greeting takes those of all. Waits.
/// Nothing else may be under way.
void all_gather_host(Reserve& reserve, transport::NcclExchange& exchange, std::uint32_t rank,
                     std::uint32_t ranks, bool gathers, const void* own, void* all, std::size_t bytes);

/// Puts the reductions on their streams; nothing waits for the GPU. One element per communicator, with what
/// it has to do, in order; all of them advance together, for one thread may have several ranks of a
/// communicator. Throws CudaError, NcclError, and as Planner::jobs(); then the communicators cannot be used
/// any more.
struct Work {
  StreamEngine* engine = nullptr;
  std::vector<StreamCall> calls;
  std::size_t lane = 0;         ///< the engine's that the first lane of the work is
  PartEvents* parts = nullptr;  ///< times the parts of a single call that is no PreMulSum and not captured
};
void enqueue(std::span<const Work> work);

}  // namespace detccl::engine::cuda
