// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_memory.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "device/cuda/peer/layout.h"
#include "nccl_api/channels.h"

namespace detccl::cli {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Of NCCL 2.28.9: buffer sizes in computeBuffSizes() of src/init.cc, with the constants of
// src/include/device.h: 8 steps; LL: 8 lines of 16 bytes for each of 512 threads; LL128: 120 words of 8 bytes
// for each of 640 threads.
constexpr std::uint64_t kSimple = 4 * kMiB;
constexpr std::uint64_t kLl = 8 * 512 * 8 * 16;
constexpr std::uint64_t kLl128 = 120 * 640 * 8 * 8;
constexpr std::uint64_t kNetworkChunk = 128 << 10;

// src/transport/p2p.cc: either end of a connection is memory of its own, counters and, at one of them, the
// protocols' buffers, in whole parts of so many bytes.
constexpr std::uint64_t kWhole = 2 * kMiB;
constexpr std::uint64_t kCounters = 4096;

// src/transport/net.cc: connections over the network share a pool for sends and one for receives, of so many
// chunks a channel. How many channels there are depends on the machine; these are the most that were common.
constexpr std::uint64_t kPoolSteps = 16;
constexpr std::uint64_t kChannels = 32;

// src/graph/paths.cc, with a network port for each GPU: what each peer of a communicator over several nodes
// has, until so many times their number is more than four operations for each channel.
constexpr std::uint64_t kNcclsChannels = 2, kOperations = 4;

std::uint64_t whole(std::uint64_t bytes) {
  return (bytes + kWhole - 1) / kWhole * kWhole;
}

/// A positive number in the environment, or `otherwise`.
std::uint64_t variable(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  return error == std::errc() && rest == end && value > 0 ? value : otherwise;
}

}  // namespace

ConnectionMemory::ConnectionMemory(const plan::Spec& spec, std::uint32_t near,
                                   std::optional<std::uint32_t> channels)
    : simple_(variable("NCCL_BUFFSIZE", kSimple)),
      ll_(variable("NCCL_LL_BUFFSIZE", kLl)),
      ll128_(variable("NCCL_LL128_BUFFSIZE", kLl128)),
      network_chunk_(variable("NCCL_P2P_NET_CHUNKSIZE", kNetworkChunk)),
      all_channels_(variable("NCCL_MAX_P2P_NCHANNELS", kChannels)),
      channels_(channels ? *channels : usual_channels(spec, near)) {
}

std::uint64_t ConnectionMemory::usual_channels(const plan::Spec& spec, std::uint32_t near) const {
  if (spec.ranks <= near) return all_channels_;
  const auto asked =
      nccl_api::channels_per_peer(spec.schedule, spec.contract, spec.schedule.group, spec.ranks);
  const std::uint64_t nccls = kNcclsChannels * spec.ranks > kOperations * all_channels_ ? 1 : kNcclsChannels;
  return std::min(variable("NCCL_NCHANNELS_PER_NET_PEER", asked.value_or(nccls)), all_channels_);
}

std::uint64_t ConnectionMemory::near_bytes() const {
  return whole(kCounters + simple_ + ll_ + ll128_) + whole(kCounters);
}

std::uint64_t ConnectionMemory::far_bytes() const {
  return 2 * all_channels_ * kPoolSteps * network_chunk_;
}

std::uint64_t ConnectionMemory::bytes(std::uint64_t near_peers, std::uint64_t far_peers) const {
  return near_peers * channels_ * near_bytes() + (far_peers > 0 ? far_bytes() : 0);
}

std::string ConnectionMemory::explanation() const {
  return fmt::format(
      "connections: {} MiB for each near peer and channel, {} {} a peer; {} MiB for all others together "
      "({} channels); by NCCL 2.28's rules, computed, not measured",
      near_bytes() / kMiB, channels_, channels_ == 1 ? "channel" : "channels", far_bytes() / kMiB,
      all_channels_);
}

std::uint64_t peer_bytes(std::uint32_t ranks, const contract::Contract& contract, std::uint32_t blocks) {
  if (ranks < 2 || ranks > device::cuda::peer::kMaxRanks || contract.block != 0) return 0;
  return device::cuda::peer::layout_for(ranks, blocks).bytes();
}

}  // namespace detccl::cli
