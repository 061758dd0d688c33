// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/settings.h"

#include <unistd.h>

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

bool is_ours(const Hello& hello) {
  return hello.host == host_number() && hello.process == static_cast<std::uint32_t>(::getpid());
}

/// Of ranks that are near each other. Rank 0 says where they could be larger; a warning if groups are what
/// was asked for.
std::uint32_t groups_of(std::span<const Hello> hellos, bool wanted) {
  if (hellos.empty()) return 1;
  std::vector<std::uint64_t> domains;
  for (const Hello& hello : hellos)
    domains.push_back(hello.domain);
  const Grouping grouping = find_groups(domains);
  if (!grouping.why.empty() && is_ours(hellos.front()))
    log_line(wanted ? LogLevel::warn : LogLevel::info, grouping.why);
  return grouping.group;
}

}  // namespace

engine::Settings engine_settings(const Configuration& c, bool on_host, std::span<const Hello> hellos) {
  engine::Settings settings;
  const bool grouped = c.schedule && c.schedule->kind == plan::Kind::hier && c.schedule->group == 0;
  settings.group = c.group != 0 ? c.group : groups_of(hellos, grouped);
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
