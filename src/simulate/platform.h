// SPDX-License-Identifier: Apache-2.0
// The machines that a prediction is for: GPUs in NVLink domains (nodes or racks), a network port per GPU, a
// rail-optimised fat tree between the domains. Seconds, bytes, bytes per second.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace detccl::simulate {

/// What carries one GPU's traffic in one direction.
struct Level {
  double bandwidth = 1;
  double latency = 0;  ///< of a message, before its first byte is there
};

/// How NCCL's own kernels move data: its protocols LL, LL128 and Simple.
struct Protocol {
  std::string name;
  double efficiency = 1;  ///< payload bytes per byte moved
  double ring_launch = 0, tree_launch = 0;
  double ring_nvlink = 0, ring_network = 0;  ///< latency of a hop
  double tree_nvlink = 0, tree_network = 0;
};

struct Parameters {
  std::string name;
  std::string source;  ///< where the figures are from
  Level nvlink, network;
  double launch = 0;                 ///< of a group of sends and receives
  double transfer = 0;               ///< of each send but the first in a group
  double fold_launch = 0;            ///< of a fold kernel
  double fold_next = 0;              ///< of each that follows another in a tick
  double fold_bandwidth = 1;         ///< bytes read and written by folds that run alone …
  double fold_bandwidth_beside = 1;  ///< … or beside communication
  std::vector<Protocol> protocols;   ///< of native collectives
};

/// "h200" or "gb200"; throws std::invalid_argument for others.
Parameters default_parameters(std::string_view name);
/// `defaults` with what the JSON text has instead (docs/simulate.md). Throws std::invalid_argument.
Parameters read_parameters(const std::string& json, Parameters defaults);

enum class LinkKind : std::uint8_t { nvlink_up, nvlink_down, port_up, port_down, leaf_up, leaf_down, bus };

struct Link {
  LinkKind kind = LinkKind::bus;
  std::uint32_t index = 0;  ///< of the GPU or the leaf switch
  friend auto operator<=>(const Link&, const Link&) = default;
};

struct Platform {
  Parameters parameters;
  std::uint32_t domains = 1;
  std::uint32_t gpus = 8;               ///< of a domain; rank r is GPU r % gpus of domain r / gpus
  std::uint32_t domains_per_leaf = 32;  ///< whose GPUs of one number share a leaf switch
  double oversubscription = 1;          ///< of a leaf switch: bandwidth below it over that above it
  bool bus = false;  ///< instead of all that: everything crosses one link, `parameters.nvlink`

  std::uint32_t ranks() const { return domains * gpus; }
  std::uint32_t domain(std::uint32_t rank) const { return rank / gpus; }
  std::uint32_t leaf(std::uint32_t rank) const {
    return domain(rank) / domains_per_leaf * gpus + rank % gpus;
  }
  /// From rank to another rank. Between domains, to a GPU of another number: over NVLink to the own domain's
  /// GPU of that number first, then along that rail, as NCCL does.
  std::vector<Link> route(std::uint32_t from, std::uint32_t to) const;
  double bandwidth(const Link& link) const;
  double latency(const Link& link) const;
};

}  // namespace detccl::simulate
