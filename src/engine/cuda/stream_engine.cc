// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/stream_engine.h"

#include <algorithm>

#include "engine/cuda/load_once.h"
#include "engine/cuda/run.h"

namespace detccl::engine::cuda {
namespace {

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

}  // namespace

StreamEngine::StreamEngine(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers,
                           std::unique_ptr<transport::NcclExchange> exchange)
    : settings_(settings),
      rank_(rank),
      ranks_(ranks),
      gathers_(gathers),
      device_(current_device()),
      exchange_(std::move(exchange)),
      tasks_(settings, rank, ranks, gathers),
      scratch_(ranks == 1 ? 0 : settings.scratch_limit) {
}

void StreamEngine::use_peers(const PeerSettings& settings) {
  peers_ = std::make_unique<PeerGroup>(settings, rank_, ranks_, gathers_, *exchange_);
}

void StreamEngine::finish_peers() {
  if (peers_ == nullptr || peers_->failure() != device::cuda::peer::Failure::none) return;
  const cudaStream_t stream = side_streams_.get(0);
  order_.before(stream, 0);
  peers_->finish(stream);
}

void all_gather_host(transport::NcclExchange& exchange, std::uint32_t rank, std::uint32_t ranks, bool gathers,
                     const void* own, void* all, std::size_t bytes) {
  const Memory memory(bytes * ranks);
  SideStreams streams;
  const cudaStream_t stream = streams.get(0);
  std::byte* mine = memory.data() + rank * bytes;
  check(cudaMemcpyAsync(mine, own, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  transport::NcclGroup group(exchange.functions());
  if (gathers) {
    exchange.all_gather(mine, memory.data(), bytes, stream);
  } else {
    for (std::uint32_t k = 1; k < ranks; ++k) {
      const std::uint32_t to = (rank + k) % ranks, from = (rank + ranks - k) % ranks;
      exchange.receive(from, memory.data() + from * bytes, bytes, stream);
      exchange.send(to, mine, bytes, stream);
    }
  }
  group.end();
  check(cudaMemcpyAsync(all, memory.data(), bytes * ranks, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void StreamEngine::warm_up() {
  load_once(device_);
  if (ranks_ == 1) return;
  // By each schedule that may be chosen: a message for `gather`, and one that is too long for it, in equal
  // shards.
  const std::uint64_t few = ranks_, unit = std::uint64_t{64} * ranks_;
  const std::uint64_t many =
      (settings_.tuning.gather_limit / ranks_ / ranks_ / sizeof(float) / unit + 1) * unit;
  const Memory memory(many * sizeof(float));
  const cudaStream_t stream = side_streams_.get(0);
  check(cudaMemsetAsync(memory.data(), 0, memory.size(), stream), "cudaMemsetAsync");
  for (const std::uint64_t count : {few, many}) {
    Reduction call;
    call.send = call.receive = memory.data();
    call.count = count;
    const Work work{this, {{call, stream}}};
    enqueue({&work, 1});
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace detccl::engine::cuda
