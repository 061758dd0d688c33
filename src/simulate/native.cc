// SPDX-License-Identifier: Apache-2.0
#include "simulate/native.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "simulate/closed_forms.h"

namespace detccl::simulate {
namespace {

/// One rank in one tree.
struct Node {
  std::uint32_t parent = 0;
  std::vector<std::uint32_t> children;
};

/// Chains within domains, whose heads (GPU 0) form a binary tree.
std::vector<Node> nodes_of(const Platform& p, bool counterpart) {
  const std::vector<std::uint32_t> heads = binary_tree(p.domains, counterpart);
  std::vector<Node> nodes(p.ranks());
  for (std::uint32_t rank = 0; rank < p.ranks(); ++rank) {
    const bool head = rank % p.gpus == 0;
    nodes[rank].parent = head ? heads[p.domain(rank)] * p.gpus : rank - 1;
    if (nodes[rank].parent != rank) nodes[nodes[rank].parent].children.push_back(rank);
  }
  return nodes;
}

/// Chunks under way at a time: a channel has room for more, but flows of a simulation share a link, so that
/// more than what latency wants would only make the first one late.
std::uint32_t window_of(const Platform& p, double chunk) {
  const Level& level = p.domains > 1 ? p.parameters.network : p.parameters.nvlink;
  const double wanted = 2 + level.latency * level.bandwidth / 4 / chunk;
  return static_cast<std::uint32_t>(std::min<double>(wanted, kNativeBuffers));
}

/// In tick t chunk t comes from `from`, and chunk t - 1 goes to `to`; with nothing to wait for, chunk t goes.
Script relay(std::uint32_t rank, const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
             std::uint32_t chunks, double bytes, double launch, std::uint32_t window) {
  Script script;
  script.rank = rank;
  script.window = window;
  const std::uint32_t late = from.empty() ? 0 : 1;
  for (std::uint32_t t = 0; t < chunks + late; ++t) {
    Tick tick;
    tick.number = t;
    if (t == 0) tick.launch = launch;
    for (const std::uint32_t peer : from)
      if (t < chunks) tick.receives.push_back({peer, bytes});
    for (const std::uint32_t peer : to)
      if (t >= late) tick.sends.push_back({peer, bytes});
    script.ticks.push_back(std::move(tick));
  }
  return script;
}

}  // namespace

Platform channel_platform(const Platform& platform, const Protocol& protocol, bool tree) {
  Platform p = platform;
  p.parameters.transfer = 0;
  p.parameters.nvlink.bandwidth *= protocol.efficiency / channels(platform);
  // Inner GPUs of a chain send both ways, its ends one way: all channels together, all GPUs the average.
  if (tree && p.gpus > 2) p.parameters.nvlink.bandwidth *= p.gpus / (p.gpus - 1.0);
  p.parameters.network.bandwidth *= protocol.efficiency;
  if (platform.bus) return p;
  p.parameters.nvlink.latency = tree ? protocol.tree_nvlink : protocol.ring_nvlink;
  p.parameters.network.latency = tree ? protocol.tree_network : protocol.ring_network;
  return p;
}

std::vector<Script> ring_scripts(const Platform& p, const Protocol& protocol, std::uint32_t laps,
                                 double bytes) {
  const std::uint32_t n = p.ranks();
  const double slice = bytes / n / channels(p);
  std::vector<Script> scripts(n);
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    Script& script = scripts[rank];
    script.rank = rank;
    script.window = kNativeBuffers;
    for (std::uint32_t step = 0; step < laps * (n - 1); ++step)
      script.ticks.push_back({step,
                              {{(rank + 1) % n, slice}},
                              {{(rank + n - 1) % n, slice}},
                              step == 0 ? protocol.ring_launch : 0,
                              0,
                              0});
  }
  return scripts;
}

std::vector<std::uint32_t> binary_tree(std::uint32_t n, bool counterpart) {
  std::vector<std::uint32_t> parent(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    // In in-order numbering the height of a node is that of its lowest set bit.
    const std::uint32_t bit = i & (~i + 1);
    std::uint32_t up = (i ^ bit) | bit << 1;
    if (up >= n) up = i ^ bit;
    parent[i] = i == 0 ? 0 : up;
  }
  if (!counterpart) return parent;
  const auto other = [n](std::uint32_t i) { return n % 2 == 0 ? n - 1 - i : (i + 1) % n; };
  std::vector<std::uint32_t> mirrored(n);
  for (std::uint32_t i = 0; i < n; ++i)
    mirrored[other(i)] = other(parent[i]);
  return mirrored;
}

std::vector<Script> tree_scripts(const Platform& p, const Protocol& protocol, double bytes) {
  const std::uint32_t n = p.ranks();
  const double part = bytes / channels(p) / 2;
  const auto chunks = static_cast<std::uint32_t>(std::ceil(part / tree_chunk(p, protocol, part)));
  const std::uint32_t window = window_of(p, part / chunks);
  std::vector<Script> scripts(std::size_t{4} * n);
  for (const std::uint32_t tree : {0u, 1u}) {
    const std::vector<Node> nodes = nodes_of(p, tree == 1);
    const std::uint32_t up = tree * 2 * n, down = up + n;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const Node& node = nodes[rank];
      std::vector<std::uint32_t> below_up, below_down;
      for (const std::uint32_t child : node.children) {
        below_up.push_back(up + child);
        below_down.push_back(down + child);
      }
      const auto make = [&](const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to) {
        return relay(rank, from, to, chunks, part / chunks, protocol.tree_launch, window);
      };
      if (node.parent == rank) {  // the root sends down what has come up
        scripts[up + rank] = make(below_up, below_down);
        scripts[down + rank].rank = rank;
        continue;
      }
      const bool parent_is_root = nodes[node.parent].parent == node.parent;
      scripts[up + rank] = make(below_up, {up + node.parent});
      scripts[down + rank] = make({(parent_is_root ? up : down) + node.parent}, below_down);
    }
  }
  return scripts;
}

}  // namespace detccl::simulate
