// SPDX-License-Identifier: Apache-2.0
#include "simulate/platform.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "plan/tuner/coefficients.h"

namespace detccl::simulate {
namespace {

constexpr double kMicro = 1e-6, kGiga = 1e9;

/// Per hop and kernel, as NCCL assumes when it chooses an algorithm (see docs/simulate.md).
std::vector<Protocol> nccl_protocols() {
  return {
      {"ll", 0.5, 6.6e-6, 6.8e-6, 0.6e-6, 2.7e-6, 0.6e-6, 5.0e-6},
      {"ll128", 0.9375, 14.0e-6, 14.0e-6, 1.9e-6, 4.0e-6, 1.25e-6, 8.5e-6},
      {"simple", 1.0, 8.4e-6, 8.4e-6, 3.4e-6, 14.0e-6, 4.0e-6, 14.0e-6},
  };
}

/// The figures of the cost model, and what only a simulation looks at. `beside`: folds beside communication.
Parameters from_tuner(std::string_view name, double beside) {
  const plan::tuner::Coefficients c = plan::tuner::built_in(name);
  Parameters p;
  p.name = c.name;
  p.source = c.source;
  p.nvlink = {c.near.bandwidth, c.near.latency};
  p.network = {c.far.bandwidth, c.far.latency};
  p.launch = c.step;
  p.transfer = c.message;
  p.fold_launch = c.fold_launch;
  p.fold_next = c.fold_launch / 2;  // assumed, as fold_launch is
  p.fold_bandwidth = c.fold_bandwidth;
  p.fold_bandwidth_beside = beside;
  p.protocols = nccl_protocols();
  return p;
}

constexpr double kBesideH200 = 2700 * kGiga;

using Json = nlohmann::json;

void take(const Json& object, const char* key, double unit, double& value) {
  if (!object.contains(key)) return;
  value = object.at(key).get<double>() * unit;
  if (!(value >= 0)) throw std::invalid_argument(std::string(key) + " is negative");
}

void take_level(const Json& object, const char* key, Level& level) {
  if (!object.contains(key)) return;
  take(object.at(key), "gb_s", kGiga, level.bandwidth);
  take(object.at(key), "latency_us", kMicro, level.latency);
  if (level.bandwidth <= 0) throw std::invalid_argument(std::string(key) + " has no bandwidth");
}

void take_protocol(const Json& object, Protocol& p) {
  take(object, "efficiency", 1, p.efficiency);
  take(object, "ring_launch_us", kMicro, p.ring_launch);
  take(object, "tree_launch_us", kMicro, p.tree_launch);
  take(object, "ring_nvlink_us", kMicro, p.ring_nvlink);
  take(object, "ring_network_us", kMicro, p.ring_network);
  take(object, "tree_nvlink_us", kMicro, p.tree_nvlink);
  take(object, "tree_network_us", kMicro, p.tree_network);
  if (p.efficiency <= 0) throw std::invalid_argument("a protocol's efficiency has to be positive");
}

}  // namespace

Parameters default_parameters(std::string_view name) {
  if (name == "h200") return from_tuner(name, kBesideH200);
  if (name == "gb200") return from_tuner(name, kBesideH200 * (8.0 / 4.8));
  throw std::invalid_argument("no parameters '" + std::string(name) + "': h200 or gb200");
}

Parameters read_parameters(const std::string& text, Parameters p) {
  try {
    const Json object = Json::parse(text);
    p.name = object.value("name", p.name);
    p.source = object.value("source", "not said; else " + p.source);
    take_level(object, "nvlink", p.nvlink);
    take_level(object, "network", p.network);
    take(object, "launch_us", kMicro, p.launch);
    take(object, "transfer_us", kMicro, p.transfer);
    take(object, "fold_launch_us", kMicro, p.fold_launch);
    take(object, "fold_next_us", kMicro, p.fold_next);
    take(object, "fold_gb_s", kGiga, p.fold_bandwidth);
    take(object, "fold_beside_gb_s", kGiga, p.fold_bandwidth_beside);
    for (Protocol& protocol : p.protocols) {
      if (object.contains("native") && object.at("native").contains(protocol.name))
        take_protocol(object.at("native").at(protocol.name), protocol);
    }
  } catch (const Json::exception& e) {
    throw std::invalid_argument(std::string("parameters: ") + e.what());
  }
  if (p.fold_bandwidth <= 0 || p.fold_bandwidth_beside <= 0)
    throw std::invalid_argument("folds have no bandwidth");
  return p;
}

std::vector<Link> Platform::route(std::uint32_t from, std::uint32_t to) const {
  if (bus) return {{LinkKind::bus, 0}};
  if (domain(from) == domain(to)) return {{LinkKind::nvlink_up, from}, {LinkKind::nvlink_down, to}};
  std::vector<Link> links;
  const std::uint32_t port = domain(from) * gpus + to % gpus;
  if (port != from) links = {{LinkKind::nvlink_up, from}, {LinkKind::nvlink_down, port}};
  links.push_back({LinkKind::port_up, port});
  if (leaf(port) != leaf(to)) {
    links.push_back({LinkKind::leaf_up, leaf(port)});
    links.push_back({LinkKind::leaf_down, leaf(to)});
  }
  links.push_back({LinkKind::port_down, to});
  return links;
}

double Platform::bandwidth(const Link& link) const {
  switch (link.kind) {
    case LinkKind::leaf_up:
    case LinkKind::leaf_down: {
      const std::uint32_t first = link.index / gpus * domains_per_leaf;
      const std::uint32_t below = std::min(domains - first, domains_per_leaf);
      return parameters.network.bandwidth * below / oversubscription;
    }
    case LinkKind::port_up:
    case LinkKind::port_down:
      return parameters.network.bandwidth;
    default:
      return parameters.nvlink.bandwidth;
  }
}

double Platform::latency(const Link& link) const {
  switch (link.kind) {
    case LinkKind::port_up:
      return parameters.network.latency;
    case LinkKind::nvlink_up:
    case LinkKind::bus:
      return parameters.nvlink.latency;
    default:
      return 0;
  }
}

}  // namespace detccl::simulate
