// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/settings.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "nccl_api/log.h"
#include "nccl_api/topology.h"

namespace detccl::nccl_api {
namespace {

bool in_one_domain(std::span<const Hello> hellos) {
  return std::all_of(hellos.begin(), hellos.end(),
                     [&](const Hello& h) { return h.domain == hellos[0].domain; });
}

bool is_ours(const Hello& hello) {
  return hello.host == host_number() && hello.process == process_number();
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
  engine::Settings settings = on_host ? engine::Settings() : engine::gpu_defaults();
  const bool grouped = c.schedule && c.schedule->kind == plan::Kind::hier && c.schedule->group == 0;
  settings.group = c.group != 0 ? c.group : groups_of(hellos, grouped);
  if (c.group == 0 && in_one_domain(hellos)) settings.near = static_cast<std::uint32_t>(hellos.size());
  settings.contract = c.contract;
  settings.schedule = c.schedule;
  settings.chunk_bytes = c.chunk_bytes;
  if (!on_host) settings.lanes = c.lanes;
  settings.prove = c.prove;
  settings.coefficients = c.tuning;
  if (c.scratch_bytes != 0) settings.scratch_limit = c.scratch_bytes;
  return settings;
}

std::function<void(const engine::Reduction&, const engine::Choice&)> choice_log(const std::string& name,
                                                                                int rank) {
  const LogLevel level = rank == 0 ? LogLevel::info : LogLevel::debug;
  if (!logs(level)) return {};
  return [name, level](const engine::Reduction& call, const engine::Choice& choice) {
    std::string line = fmt::format("{}: {} of {} {} goes by {}, {} elements a chunk", name,
                                   plan::name(call.collective), call.count, contract::name(call.type),
                                   plan::name(choice.schedule), std::min(choice.chunk, call.count));
    if (choice.predicted > 0) line += fmt::format(", predicted {:.1f} us", choice.predicted * 1e6);
    log_line(level, line);
  };
}

}  // namespace detccl::nccl_api
