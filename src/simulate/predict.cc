// SPDX-License-Identifier: Apache-2.0
#include "simulate/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "simulate/closed_forms.h"
#include "simulate/native.h"
#include "simulate/network.h"
#include "simulate/ticks.h"

namespace detccl::simulate {
namespace {

constexpr double kNothing = 1e30;  ///< bandwidth of what takes no time

engine::Settings settings_of(const Options& options, const plan::Schedule& schedule, std::uint64_t chunk) {
  engine::Settings settings = options.settings;
  settings.schedule = schedule;
  settings.chunk_bytes = chunk;
  return settings;
}

Prediction predict_chunked(const Case& c, const engine::Settings& settings, const Options& options) {
  if (expected_messages(c, options.platform.ranks(), settings) <= options.most_messages) {
    return {run(options.platform, replay(c, options.platform, settings)), "simulated", "",
            settings.chunk_bytes};
  }
  if (settings.lanes > 1) throw std::invalid_argument("too many messages to simulate lanes");
  const double seconds = has_closed_form(*settings.schedule) ? exchange_seconds(c, options.platform, settings)
                                                             : ticks_seconds(c, options.platform, settings);
  return {seconds, "closed form", "", settings.chunk_bytes};
}

Prediction native_ring(double bytes, std::uint32_t laps, const Options& options) {
  const Platform& p = options.platform;
  const auto& protocols = p.parameters.protocols;
  const auto better = [&](const Protocol& a, const Protocol& b) {
    return ring_seconds(p, a, laps, bytes) < ring_seconds(p, b, laps, bytes);
  };
  const Protocol& best = *std::min_element(protocols.begin(), protocols.end(), better);
  const double messages = static_cast<double>(laps) * p.ranks() * p.ranks();
  Prediction prediction{ring_seconds(p, best, laps, bytes), "closed form", "ring " + best.name};
  if (!p.bus && messages <= static_cast<double>(options.most_messages) / 8) {
    prediction.seconds = run(channel_platform(p, best, false), ring_scripts(p, best, laps, bytes));
    prediction.how = "simulated";
  }
  return prediction;
}

Prediction native_tree(double bytes, const Options& options) {
  const Platform& p = options.platform;
  const auto& protocols = p.parameters.protocols;
  const auto better = [&](const Protocol& a, const Protocol& b) {
    return tree_seconds(p, a, bytes) < tree_seconds(p, b, bytes);
  };
  const Protocol& best = *std::min_element(protocols.begin(), protocols.end(), better);
  const Prediction formula{tree_seconds(p, best, bytes), "closed form", "tree " + best.name};
  const std::vector<Script> scripts = tree_scripts(p, best, bytes);
  if (messages(scripts) > options.most_messages / 8) return formula;
  const Prediction simulated{run(channel_platform(p, best, true), scripts), "simulated", formula.by};
  // Chunks that share a link hold each other up in a simulation, on a real one they come one by one.
  return simulated.seconds < formula.seconds ? simulated : formula;
}

}  // namespace

Prediction predict_native(const Case& c, const Options& options, Native algorithm) {
  const auto bytes = static_cast<double>(c.bytes);
  if (c.collective != plan::Collective::all_reduce) return native_ring(bytes, 1, options);
  if (algorithm == Native::tree) return native_tree(bytes, options);
  const Prediction ring = native_ring(bytes, 2, options);
  if (algorithm == Native::ring || options.platform.bus || options.platform.ranks() < 2) return ring;
  const Prediction tree = native_tree(bytes, options);
  return tree.seconds < ring.seconds ? tree : ring;
}

std::optional<Prediction> predict(const Case& c, const plan::Schedule& schedule, const Options& options,
                                  std::string* why) {
  std::optional<Prediction> best;
  for (const std::uint64_t chunk : options.chunks) {
    if (best && chunk > c.bytes && chunk != options.chunks.front()) continue;  // as the one before
    try {
      Prediction p = predict_chunked(c, settings_of(options, schedule, chunk), options);
      if (!best || p.seconds < best->seconds) best = p;
    } catch (const std::invalid_argument& e) {
      if (why != nullptr) *why = e.what();
    }
  }
  if (best) {
    best->by = plan::name(schedule);
    if (best->chunk != 0) best->by += fmt::format(", chunks of {} MB", best->chunk >> 20);
  }
  return best;
}

Terms terms(const Case& c, const plan::Schedule& schedule, const Prediction& prediction,
            const Options& options) {
  const engine::Settings settings = settings_of(options, schedule, prediction.chunk);
  const auto saved = [&](auto&& remove) {
    Options other = options;
    remove(other.platform.parameters);
    return prediction.seconds - predict_chunked(c, settings, other).seconds;
  };
  Terms t;
  t.launches = saved([](Parameters& p) { p.launch = p.transfer = p.fold_launch = p.fold_next = 0; });
  t.latency = saved([](Parameters& p) {
    p.nvlink.latency = p.network.latency = 0;
    for (Protocol& protocol : p.protocols)
      protocol.ring_nvlink = protocol.ring_network = 0;
  });
  t.bandwidth = saved([](Parameters& p) { p.nvlink.bandwidth = p.network.bandwidth = kNothing; });
  t.folds = saved([](Parameters& p) { p.fold_bandwidth = p.fold_bandwidth_beside = kNothing; });
  return t;
}

}  // namespace detccl::simulate
