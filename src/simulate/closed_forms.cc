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

double tree_seconds(const Platform& p, const Protocol& protocol, double bytes) {
  const double depth = std::bit_width(p.domains - 1);
  const double moved = 2 * bytes / protocol.efficiency;
  double slowest = moved * (p.gpus - 1) / p.gpus / p.parameters.nvlink.bandwidth;
  if (p.domains > 1) slowest = std::max(slowest, moved / channels(p) / p.parameters.network.bandwidth);
  return protocol.tree_launch + 2 * ((p.gpus - 1) * protocol.tree_nvlink + depth * protocol.tree_network) +
         slowest;
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
  if (p.bus) return q.nvlink.latency + n * (n - 1) * bytes / q.nvlink.bandwidth;
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
  return latency + seconds;
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
