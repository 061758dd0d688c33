// SPDX-License-Identifier: Apache-2.0
#include "simulate/closed_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace detccl::simulate {
namespace {

/// Bandwidth of one channel's slowest link.
double channel_bandwidth(const Platform& p) {
  if (p.bus) return p.parameters.nvlink.bandwidth / p.ranks();
  const double share = p.parameters.nvlink.bandwidth / channels(p);
  const bool within = p.domains == 1, across = p.gpus == 1;
  if (within) return share;
  return across ? p.parameters.network.bandwidth : std::min(share, p.parameters.network.bandwidth);
}

}  // namespace

std::uint32_t channels(const Platform& p) {
  return p.domains > 1 && !p.bus ? p.gpus : 1;
}

double ring_seconds(const Platform& p, const Protocol& protocol, std::uint32_t laps, double bytes) {
  const std::uint32_t n = p.ranks();
  if (n < 2) return protocol.ring_launch;
  const double steps = laps * (n - 1.0);
  const double across = p.domains > 1 && !p.bus ? laps * std::min<double>(n - 1, p.domains) : 0;
  const double moved = bytes / n / channels(p) / protocol.efficiency;
  return protocol.ring_launch + (steps - across) * protocol.ring_nvlink + across * protocol.ring_network +
         steps * moved / channel_bandwidth(p);
}

double tree_chunk(const Platform& p, const Protocol& protocol, double part) {
  constexpr double kBuffer = 512 << 10;  // of Simple; LL has half of it for 32 KB, LL128 a little more
  const double nodes = std::bit_width(p.domains) - 1, gpus = p.gpus;
  if (protocol.name == "ll") return std::min<double>(part, 32 << 10);
  double chunk = kBuffer;
  const auto halve = [&](double least_chunks, double least_bytes) {
    while (part / chunk < least_chunks && chunk > least_bytes)
      chunk /= 2;
  };
  if (protocol.name == "ll128") {
    chunk *= 1.1;
    const double steps = 1 + nodes + 0.1 * gpus;
    halve(steps * 64 / gpus, 128 << 10);
    halve(steps * 16 / gpus, 32 << 10);
  } else {
    const double depth = gpus - 1 + nodes;
    halve(depth * 8, 128 << 10);
    halve(depth * 4, 64 << 10);
    halve(depth, 32 << 10);
  }
  return std::min(part, chunk);
}

double tree_seconds(const Platform& p, const Protocol& protocol, double bytes) {
  const double depth = std::bit_width(p.domains - 1);
  const double part = bytes / channels(p) / 2, chunk = tree_chunk(p, protocol, part);
  // Two of them share a link on the way up, and on the way down.
  const double both = 2 * chunk / protocol.efficiency;
  const double hops =
      (p.gpus - 1) * (protocol.tree_nvlink + both * channels(p) / p.parameters.nvlink.bandwidth) +
      depth * (protocol.tree_network + both / p.parameters.network.bandwidth);
  const double moved = 2 * (bytes - bytes * chunk / part) / protocol.efficiency;
  double slowest = moved * (p.gpus - 1) / p.gpus / p.parameters.nvlink.bandwidth;
  const double across = p.domains > 2 ? moved : moved / 2;  // of two nodes each is the root of one tree
  if (p.domains > 1) slowest = std::max(slowest, across / channels(p) / p.parameters.network.bandwidth);
  return protocol.tree_launch + 2 * hops + slowest;
}

double all_gather_seconds(const Platform& p, double bytes) {
  double best = HUGE_VAL;
  for (const Protocol& protocol : p.parameters.protocols)
    best = std::min(best, ring_seconds(p, protocol, 1, bytes * p.ranks()) - protocol.ring_launch);
  return best;
}

double all_to_all_seconds(const Platform& p, double bytes) {
  const double n = p.ranks(), g = p.gpus;
  const Parameters& q = p.parameters;
  const double posted = std::max(n - 2, 0.0) * q.transfer;
  if (p.bus) return q.nvlink.latency + std::max(n * (n - 1) * bytes / q.nvlink.bandwidth, posted);
  const double away = n - g;
  // What is for a GPU of another number goes over NVLink first.
  const double relayed = away * (g - 1) / g;
  double seconds = (g - 1 + relayed) * bytes / q.nvlink.bandwidth, latency = g > 1 ? q.nvlink.latency : 0;
  if (away > 0) {
    seconds = std::max(seconds, away * bytes / q.network.bandwidth);
    latency += q.network.latency;
    const double farther = n - g * std::min(p.domains, p.domains_per_leaf);
    seconds = std::max(seconds, farther * bytes * p.oversubscription / q.network.bandwidth);
  }
  return latency + std::max(seconds, posted);
}

bool has_closed_form(const plan::Schedule& schedule) {
  return schedule == plan::Schedule::gather || schedule == plan::Schedule::direct;
}

double exchange_seconds(const Case& c, const Platform& p, const engine::Settings& settings) {
  const double n = p.ranks();
  const bool scatter = c.collective == plan::Collective::reduce_scatter;
  const double size = static_cast<double>(contract::size_of(c.type));
  const double chunk = size *
                       static_cast<double>(engine::chunk_elements(settings, c.collective, *settings.schedule,
                                                                  p.ranks(), c.type)) *
                       (scatter ? n : 1);
  const double bytes = static_cast<double>(c.bytes);
  const double waves = std::ceil(bytes / chunk), wave = bytes / waves;
  const bool gathers = !scatter && *settings.schedule == plan::Schedule::gather;
  const Parameters& q = p.parameters;
  const double bandwidth = waves > 1 ? q.fold_bandwidth_beside : q.fold_bandwidth;
  const double fold = q.fold_launch + (n + 1) * (gathers ? wave : wave / n) / bandwidth;
  double moving = q.launch + (gathers ? all_gather_seconds(p, wave) : all_to_all_seconds(p, wave / n));
  if (!gathers && !scatter) moving += q.launch + all_gather_seconds(p, wave / n);
  // Folds hide behind the next waves' messages, or the other way round.
  return waves > 1 ? (waves - 1) * std::max(moving, fold) + moving + fold : moving + fold;
}

}  // namespace detccl::simulate
