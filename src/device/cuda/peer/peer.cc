// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/peer/peer.h"

#include <algorithm>
#include <cstdint>

#include "contract/element.h"
#include "device/cuda/peer/request.h"

namespace detccl::device::cuda::peer {
namespace {

using contract::Op;
using plan::Collective;

std::uint64_t message_bytes(const Call& call, const Layout& layout) {
  const std::uint64_t bytes = call.count * contract::size_of(call.arithmetic.type);
  return call.collective == Collective::reduce_scatter ? bytes * layout.ranks : bytes;
}

bool scatters(const Call& call) {
  return call.collective == Collective::reduce_scatter;
}

/// Of a block's dynamic shared memory, on the current device: where the kernels copy in bulk.
cudaError_t shared_bytes(std::uint32_t& bytes) {
  constexpr int kHopper = 9;
  int device = 0, major = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  bytes = major >= kHopper ? kSharedBytes : 0;
  return error;
}

Part part_of(const Endpoint& endpoint) {
  Part part{};
  part.layout = endpoint.layout;
  std::copy(endpoint.regions.begin(), endpoint.regions.end(), std::begin(part.regions));
  part.words = endpoint.words;
  part.timeout = endpoint.timeout;
  part.rank = endpoint.rank;
  return part;
}

bool in_packets(Mode mode) {
  return mode == Mode::packets || mode == Mode::shard_packets;
}

/// In packets the shard is what one rank folds.
std::uint64_t packets_shard(const Call& call, Mode mode, const Layout& layout) {
  const std::uint64_t total = message_bytes(call, layout);
  const bool whole = mode == Mode::packets && !scatters(call);
  return whole ? total : shard_bytes(total, scatters(call), layout.ranks);
}

Partition partition_of(const Call& call, Mode mode, const Layout& layout) {
  const std::uint64_t total = message_bytes(call, layout);
  if (!in_packets(mode)) return partition(mode, total, scatters(call), layout);
  Partition p;
  p.total = total;
  p.shard = packets_shard(call, mode, layout);
  return p;
}

}  // namespace

bool fits(const Call& call, Mode mode, const Layout& layout) {
  if (layout.ranks < 2 || layout.ranks > kMaxRanks) return false;
  switch (mode) {
    case Mode::shard_packets:
      if (scatters(call)) return false;
      [[fallthrough]];
    case Mode::packets:
      return packets_shard(call, mode, layout) <= std::uint64_t{layout.blocks} * kPacketUnits * 8;
    case Mode::one_shot:
      return !scatters(call);
    case Mode::two_shot:
      break;
  }
  return true;
}

std::optional<Mode> choose_mode(const Call& call, const Layout& layout, const Limits& limits) {
  const std::uint64_t sent = call.count * contract::size_of(call.arithmetic.type) * (layout.ranks - 1);
  if (sent <= limits.packets && fits(call, Mode::packets, layout)) return Mode::packets;
  // Of two ranks each sends as much either way.
  if (layout.ranks > 2 && 2 * sent / layout.ranks <= limits.shard_packets &&
      fits(call, Mode::shard_packets, layout))
    return Mode::shard_packets;
  if (sent <= limits.one_shot && fits(call, Mode::one_shot, layout)) return Mode::one_shot;
  if (fits(call, Mode::two_shot, layout)) return Mode::two_shot;
  return std::nullopt;
}

// In drain.cu.
cudaError_t launch_drain(Part part, cudaStream_t stream);
cudaError_t load_drain();

/// A shard's words must be words of the whole input. Packets are put together from any bytes; in steps words
/// are vectors that are loaded.
bool records(const Call& call, Mode mode) {
  constexpr std::uint64_t kWord = 16;
  const auto is_aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kWord == 0; };
  if (call.count == 0) return false;
  if (scatters(call) && call.count * contract::size_of(call.arithmetic.type) % kWord != 0) return false;
  return in_packets(mode) || (is_aligned(call.send) && is_aligned(call.receive));
}

cudaError_t reduce(const Endpoint& endpoint, const Call& call, Mode mode, cudaStream_t stream) {
  if (!fits(call, mode, endpoint.layout) || (call.recording != nullptr && !records(call, mode)))
    return cudaErrorInvalidValue;
  if (call.count == 0) return cudaSuccess;
  Part part = part_of(endpoint);
  part.partition = partition_of(call, mode, endpoint.layout);
  part.two_shot = mode == Mode::two_shot || mode == Mode::shard_packets;
  part.scattered = scatters(call);
  part.wanted_by = call.collective == Collective::reduce ? call.root : kEveryone;
  part.send = static_cast<const std::byte*>(call.send);
  const bool receives = call.collective != Collective::reduce || call.root == endpoint.rank;
  part.receive = receives ? static_cast<std::byte*>(call.receive) : nullptr;
  part.received_from = part.scattered ? endpoint.rank * part.partition.shard : 0;
  std::uint32_t shared = 0;
  if (const cudaError_t error = shared_bytes(shared); error != cudaSuccess) return error;
  const Request request{.part = part,
                        .arithmetic = call.arithmetic,
                        .finish = call.arithmetic.op == Op::avg ? Finish::average : Finish::round,
                        .stream = stream,
                        .recording = call.recording,
                        .shared_bytes = shared};
  return contract::visit_element(
      call.arithmetic.type, call.arithmetic.accumulate, [&]<class Element>(Element) {
        return in_packets(mode) ? launch_packets<Element>(request) : launch_steps<Element>(request);
      });
}

cudaError_t drain(const Endpoint& endpoint, cudaStream_t stream) {
  return launch_drain(part_of(endpoint), stream);
}

cudaError_t load_kernels() {
  std::uint32_t shared = 0;
  cudaError_t error = shared_bytes(shared);
  if (error == cudaSuccess) error = load_drain();
  for (int type = 0; type < contract::kDataTypes && error == cudaSuccess; ++type) {
    for (const auto accumulate : {contract::Accumulate::wide, contract::Accumulate::native}) {
      if (error == cudaSuccess) {
        error = contract::visit_element(static_cast<contract::DataType>(type), accumulate,
                                        [&]<class Element>(Element) { return load<Element>(shared); });
      }
    }
  }
  return error;
}

}  // namespace detccl::device::cuda::peer
