// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/stream_engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "device/cuda/fold.h"
#include "engine/choice.h"
#include "engine/cuda/load_once.h"
#include "engine/cuda/run.h"

namespace detccl::engine::cuda {
namespace {

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// By each schedule that may be chosen: a message for `gather`, and one that is too long for it, in equal
/// shards. Elements of float.
std::array<std::uint64_t, 2> warm_up_counts(const Settings& settings, std::uint32_t ranks) {
  const std::uint64_t few = ranks, unit = std::uint64_t{64} * ranks;
  return {few, (settings.tuning.gather_limit / ranks / ranks / sizeof(float) / unit + 1) * unit};
}

}  // namespace

Reserve::Reserve(std::size_t scratch_bytes, std::size_t greeting_bytes, std::size_t product_bytes, bool peers,
                 std::uint32_t lanes)
    : device(current_device()), scratch(scratch_bytes), greeting(greeting_bytes), products(product_bytes) {
  for (std::uint32_t lane = 1; lane < lanes; ++lane)
    lane_streams.push_back(std::make_unique<SideStreams>());
  load_once(device);
  if (peers) static_cast<void>(load_peers_once(device));  // PeerGroup() tells
}

std::size_t warm_up_bytes(const Settings& settings, std::uint32_t ranks) {
  return warm_up_counts(settings, ranks).back() * sizeof(float);
}

StreamEngine::StreamEngine(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers,
                           std::unique_ptr<transport::NcclExchange> exchange,
                           std::unique_ptr<Reserve> reserve)
    : settings_(settings),
      rank_(rank),
      ranks_(ranks),
      gathers_(gathers),
      reserve_(std::move(reserve)),
      tasks_(settings, rank, ranks, gathers) {
  exchanges_.push_back(std::move(exchange));
}

void StreamEngine::use_peers(const PeerSettings& settings) {
  peers_ = make_peers(settings, rank_, ranks_, gathers_, *reserve_, *exchanges_.front());
}

std::vector<transport::NcclExchange*> StreamEngine::exchanges() const {
  std::vector<transport::NcclExchange*> all;
  for (const auto& lane : exchanges_)
    if (lane != nullptr) all.push_back(lane.get());
  if (nodes_ == nullptr) return all;
  all.push_back(nodes_->exchange.get());
  const auto rails = nodes_->rails->exchanges();
  all.insert(all.end(), rails.begin(), rails.end());
  return all;
}

/// Whether a single fold reads all of the input and writes all of the output, in whole words of fingerprints.
bool StreamEngine::is_one_fold(const Reduction& call) const {
  constexpr std::uintptr_t kWord = 16;
  const auto is_aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kWord == 0; };
  const bool over_nodes = nodes_ != nullptr && nodes_->way.takes(call);
  if (over_nodes || call.collective != plan::Collective::all_reduce || settings_.contract.block != 0 ||
      !device::cuda::can_digest(tasks_.planner().arithmetic(call), ranks_) || call.count == 0 ||
      call.count * contract::size_of(call.type) % kWord != 0 || !is_aligned(call.send) ||
      !is_aligned(call.receive))
    return false;
  const Choice choice = tasks_.planner().choice(call);
  return choice.schedule == plan::Schedule::gather && call.count <= choice.chunk;
}

bool StreamEngine::records(const Reduction& call, bool alone) const {
  if (call.op == contract::Op::premulsum) return false;
  if (peers_ != nullptr) return peers_->records(call, tasks_.planner().arithmetic(call));
  return alone && is_one_fold(call);
}

/// At the same time: an abort frees memory, which waits for the kernels of all of them.
void StreamEngine::abort() {
  const std::vector<transport::NcclExchange*> all = exchanges();
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < all.size(); ++i) {
    try {
      others.emplace_back([exchange = all[i]] { exchange->abort(); });
    } catch (const std::system_error&) {  // no thread: one after the other then
      all[i]->abort();
    }
  }
  if (!all.empty()) all.front()->abort();
  for (std::thread& other : others)
    other.join();
}

void StreamEngine::finish_peers() {
  PeerGroup* const peers = waiting_peers();
  if (peers == nullptr || peers->failure() != device::cuda::peer::Failure::none) return;
  const cudaStream_t stream = reserve_->side_streams.get(0);
  order_.before(stream, 0);
  peers->finish(stream);
}

void all_gather(transport::NcclExchange& exchange, std::uint32_t rank, std::uint32_t ranks, bool gathers,
                std::byte* all, std::size_t bytes, cudaStream_t stream) {
  std::byte* const mine = all + rank * bytes;
  if (gathers) {
    exchange.all_gather(mine, all, bytes, stream);
    return;
  }
  for (std::uint32_t k = 1; k < ranks; ++k) {
    const std::uint32_t to = (rank + k) % ranks, from = (rank + ranks - k) % ranks;
    exchange.receive(from, all + from * bytes, bytes, stream);
    exchange.send(to, mine, bytes, stream);
  }
}

void all_gather_host(Reserve& reserve, transport::NcclExchange& exchange, std::uint32_t rank,
                     std::uint32_t ranks, bool gathers, const void* own, void* all, std::size_t bytes) {
  const Memory& memory = reserve.greeting;
  if (memory.size() < bytes * ranks) throw std::invalid_argument("all_gather_host: too little memory");
  const cudaStream_t stream = reserve.side_streams.get(0);
  check(cudaMemcpyAsync(memory.data() + rank * bytes, own, bytes, cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  transport::NcclGroup group(exchange.functions());
  all_gather(exchange, rank, ranks, gathers, memory.data(), bytes, stream);
  group.end();
  check(cudaMemcpyAsync(all, memory.data(), bytes * ranks, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void StreamEngine::warm_up() {
  if (ranks_ == 1) return;
  const Memory& memory = reserve_->greeting;
  const cudaStream_t stream = reserve_->side_streams.get(0);
  check(cudaMemsetAsync(memory.data(), 0, memory.size(), stream), "cudaMemsetAsync");
  const auto run = [&](plan::Schedule schedule, std::uint64_t count, std::size_t lane) {
    Reduction call;
    call.send = call.receive = memory.data();
    call.count = count;
    call.schedule = schedule;
    const Work work{this, {{call, stream}}, lane};
    enqueue({&work, 1});
    // The next one may make NCCL connect, for which it allocates. That can wait for this one's kernel while
    // another rank of the process, whose kernel that waits for, is kept from launching it.
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  const auto counts = warm_up_counts(settings_, ranks_);
  for (std::size_t lane = 0; lane < exchanges_.size(); ++lane) {
    for (const std::uint64_t count : counts)
      run(choose_schedule(settings_, ranks_, count * sizeof(float)), count, lane);
    for (const plan::Schedule& schedule : tuned_schedules(settings_, ranks_))
      run(schedule, counts.front(), lane);
  }
  if (nodes_ != nullptr) warm_up_nodes(stream);
}

void StreamEngine::warm_up_nodes(cudaStream_t stream) {
  nodes_->rails->warm_up();
  const std::uint32_t size = nodes_->way.size;
  constexpr std::size_t kUnit = 16;
  for (const std::size_t bytes : {kUnit, reserve_->greeting.size() / size / kUnit * kUnit}) {
    transport::NcclGroup group(nodes_->exchange->functions());
    all_gather(*nodes_->exchange, rank_ % size, size, gathers_, reserve_->greeting.data(), bytes, stream);
    group.end();
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
}

}  // namespace detccl::engine::cuda
