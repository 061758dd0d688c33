// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/peer_group.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/types.h"
#include "engine/cuda/load_once.h"
#include "engine/cuda/stream_engine.h"

namespace detccl::engine::cuda {
namespace {

namespace peer = device::cuda::peer;

std::atomic_ref<std::uint32_t> shared(std::uint32_t& word) {
  return std::atomic_ref(word);
}

/// Not over a problem that is there already: what came first tells more.
void tell(transport::PeerCard& card, const char* what, cudaError_t error) {
  if (error == cudaSuccess || card.problem.front() != '\0') return;
  card.set_problem(std::string(what) + ": " + cudaGetErrorString(error));
}

const char* words_of(peer::Failure failure) {
  return failure == peer::Failure::timeout
             ? "a reduction over peer memory has waited for another rank for longer than DETCCL_TIMEOUT"
             : "a reduction over peer memory has been stopped";
}

peer::Layout layout_of(std::uint32_t ranks, std::uint32_t blocks) {
  if (ranks > peer::kMaxRanks) {
    throw std::invalid_argument("it has " + std::to_string(ranks) + " ranks; at most " +
                                std::to_string(peer::kMaxRanks) + " reduce over peer memory");
  }
  return peer::layout_for(ranks, blocks);
}

/// Whether digests are better taken by kernels beside a reduction in steps: long messages in few blocks,
/// whose multiprocessors have enough to do (perf/results/peer_h200_large.json). `bytes`: of what is given.
bool is_long_for(const peer::Layout& layout, std::uint64_t bytes) {
  constexpr std::uint64_t kLong = std::uint64_t{1} << 20;
  constexpr std::uint32_t kFew = 64;  // blocks of all ranks together
  return bytes >= kLong && layout.blocks * layout.ranks < kFew;
}

peer::Call peer_call(const Reduction& call, const device::host::Arithmetic& arithmetic) {
  peer::Call c;
  c.collective = call.collective;
  c.arithmetic = arithmetic;
  c.root = call.root;
  c.send = call.send;
  c.receive = call.receive;
  c.count = call.count;
  return c;
}

}  // namespace

PeerGroup::HostMemory::HostMemory(bool wanted) {
  if (!wanted) return;
  void* memory = nullptr;
  error = cudaHostAlloc(&memory, sizeof *words, cudaHostAllocMapped | cudaHostAllocPortable);
  if (tolerate(error)) words = new (memory) peer::HostWords;
}

PeerGroup::HostMemory::~HostMemory() {
  if (words != nullptr) tolerate(cudaFreeHost(words));
}

PeerGroup::PeerGroup(const PeerSettings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers,
                     Reserve& reserve, transport::NcclExchange& exchange)
    : layout_(layout_of(ranks, settings.blocks)),
      host_(settings.problem.empty()),
      memory_(settings.host, layout_.bytes(), settings.problem) {
  transport::PeerCard own = memory_.card();
  std::vector<transport::PeerCard> cards(ranks);
  const auto find_problem_of_any = [&] {
    settings.meet();
    all_gather_host(reserve, exchange, rank, ranks, gathers, &own, cards.data(), sizeof own);
    return find_problem(cards);
  };
  tell(own, "cudaHostAlloc", host_.error);
  tell(own, "loading the peer kernels", load_peers_once(reserve.device));
  if (const auto problem = find_problem_of_any()) throw std::invalid_argument(*problem);
  if (const auto problem = memory_.map(cards, rank)) own.set_problem(*problem);
  if (const auto problem = find_problem_of_any()) {
    memory_.unmap();
    static_cast<void>(find_problem_of_any());  // now all have, and regions may be freed
    throw std::invalid_argument(*problem);
  }
  endpoint_.layout = layout_;
  endpoint_.rank = rank;
  std::copy(memory_.regions().begin(), memory_.regions().end(), endpoint_.regions.begin());
  endpoint_.words = host_.words;
  endpoint_.timeout = settings.timeout;
}

PeerGroup::~PeerGroup() {
  if (finished_) return;
  abort();
  // Its peers may be in the middle of an operation.
  memory_.leave();
  tolerate(cudaDeviceSynchronize());
}

bool PeerGroup::records(const Reduction& call, const device::host::Arithmetic& arithmetic) const {
  const peer::Call c = peer_call(call, arithmetic);
  const auto mode = peer::choose_mode(c, layout_, peer::Limits{});
  if (!mode || !peer::records(c, *mode)) return false;
  const bool in_steps = *mode == peer::Mode::one_shot || *mode == peer::Mode::two_shot;
  const std::uint64_t given = c.count * contract::size_of(c.arithmetic.type) *
                              (c.collective == plan::Collective::reduce_scatter ? layout_.ranks : 1);
  return !in_steps || !is_long_for(layout_, given);
}

void PeerGroup::enqueue(const Reduction& call, const device::host::Arithmetic& arithmetic,
                        cudaStream_t stream, const recorder::Recording* recording) {
  if (call.count == 0) return;
  if (failure() != peer::Failure::none) throw std::runtime_error(words_of(failure()));
  peer::Call c = peer_call(call, arithmetic);
  c.recording = recording;
  const auto mode = peer::choose_mode(c, layout_, peer::Limits{});
  check(mode ? peer::reduce(endpoint_, c, *mode, stream) : cudaErrorInvalidValue,
        "a reduction over peer memory");
}

peer::Failure PeerGroup::failure() const {
  return static_cast<peer::Failure>(shared(host_.words->failure).load(std::memory_order_relaxed));
}

void PeerGroup::abort() {
  shared(host_.words->abort).store(1, std::memory_order_relaxed);
}

void PeerGroup::finish(cudaStream_t stream) {
  check(peer::drain(endpoint_, stream), "draining peer memory");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  finished_ = failure() == peer::Failure::none;
}

std::unique_ptr<PeerGroup> make_peers(const PeerSettings& settings, std::uint32_t rank, std::uint32_t ranks,
                                      bool gathers, Reserve& reserve, transport::NcclExchange& exchange) {
  std::unique_ptr<PeerGroup> peers;
  try {
    peers = std::make_unique<PeerGroup>(settings, rank, ranks, gathers, reserve, exchange);
  } catch (const std::invalid_argument&) {
    settings.meet();  // what it had has been freed
    throw;
  }
  settings.meet();
  return peers;
}

}  // namespace detccl::engine::cuda
