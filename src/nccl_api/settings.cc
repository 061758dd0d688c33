// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/settings.h"

#include <vector>

#include "nccl_api/log.h"
#include "nccl_api/topology.h"

namespace detccl::nccl_api {
namespace {

/// Two chunks under way: one is exchanged while the other is folded.
constexpr std::size_t kGpuScratch = std::size_t{64} << 20;

/// A launch costs as much time as some hundred KB on their way, so chunks are large.
engine::Tuning gpu_tuning() {
  engine::Tuning tuning;
  tuning.chunk_bytes = std::uint64_t{32} << 20;
  tuning.chained_chunk_bytes = std::uint64_t{1} << 20;
  tuning.gather_limit = std::uint64_t{2} << 20;
  return tuning;
}

/// Of ranks that share a host.
std::uint32_t groups_of(std::span<const Hello> hellos) {
  if (hellos.empty()) return 1;
  std::vector<std::uint64_t> hosts;
  for (const Hello& hello : hellos)
    hosts.push_back(hello.host);
  const Grouping grouping = find_groups(hosts);
  if (!grouping.why.empty()) log_line(LogLevel::info, grouping.why);
  return grouping.group;
}

}  // namespace

engine::Settings engine_settings(const Configuration& c, bool on_host, std::span<const Hello> hellos) {
  engine::Settings settings;
  settings.group = c.group != 0 ? c.group : groups_of(hellos);
  settings.contract = c.contract;
  settings.schedule = c.schedule;
  settings.chunk_bytes = c.chunk_bytes;
  settings.prove = c.prove;
  if (!on_host) {
    settings.tuning = gpu_tuning();
    settings.scratch_limit = kGpuScratch;
  }
  if (c.scratch_bytes != 0) settings.scratch_limit = c.scratch_bytes;
  return settings;
}

}  // namespace detccl::nccl_api
