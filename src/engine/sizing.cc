// SPDX-License-Identifier: Apache-2.0
// Which schedule, and how large a chunk: from sizes only, so that all ranks choose the same.
#include <algorithm>

#include "engine/reduction.h"
#include "plan/schedules/levels.h"

namespace detccl::engine {
namespace {

/// Scratch slots start at multiples of this many bytes, or less.
constexpr std::uint64_t kSlotAlignment = 256;

/// Elements by which a shard of a direct schedule may be longer than the average.
constexpr std::uint64_t kShardSlack = 16;

std::uint64_t less(std::uint64_t from, std::uint64_t amount) {
  return from - std::min(from, amount);
}

/// Ranks of a full block of the lowest level of halving or hier.
std::uint64_t first_level(const contract::Contract& contract, plan::Schedule schedule, std::uint32_t ranks) {
  plan::Spec spec;
  spec.schedule = schedule;
  spec.contract = contract;
  spec.ranks = ranks;
  spec.count = ranks;
  const plan::schedules::Levels levels(spec);
  return levels.size(levels.count() == 0 ? 0 : 1);
}

/// Elements of a chunk (of each shard, where all shards travel together) whose job takes at most `budget`
/// bytes of scratch. The slots per schedule are in the tables of plan/schedules/.
std::uint64_t affordable(const contract::Contract& contract, bool whole_shards, plan::Schedule schedule,
                         std::uint32_t ranks, contract::DataType type, std::uint64_t budget) {
  const std::uint64_t payload = contract::size_of(type);
  const std::uint64_t partial = contract::size_of(contract::accumulation_type(type, contract.accumulate));
  const std::uint64_t blocks = contract.block != 0 ? ranks / contract.block + 1 : 0;
  // Raw values, blocks' results, the result itself, and for folds of over a thousand operands partial
  // results.
  const std::uint64_t slots = ranks + blocks + ranks / 1024 * (partial / payload + 1);
  switch (schedule.kind) {
    case plan::Kind::gather:
      return less(budget, slots * kSlotAlignment) / (slots * payload);
    case plan::Kind::direct: {
      const std::uint64_t shard = less(budget, slots * kSlotAlignment) / (slots * payload);
      return whole_shards ? shard : less(shard, kShardSlack) * ranks;
    }
    case plan::Kind::ring:
      return less(budget, 5 * kSlotAlignment) / (2 * partial + 3 * payload);
    case plan::Kind::halving:
    case plan::Kind::hier: {
      // Of raw values less than the message, twice that where ragged ranks' shards come in pairs; of partials
      // half and the other half; of rounded values all and, where only the root has an output, half of the
      // results. Slots: a few per level, and one per rank of a direct level.
      const std::uint64_t inside = schedule.inner == plan::Kind::direct ? schedule.group : 2;
      const std::uint64_t joined =
          schedule.kind == plan::Kind::hier ? inside + (schedule.outer == plan::Kind::direct ? ranks : 0) : 0;
      const std::uint64_t most_slots =
          std::min<std::uint64_t>(ranks, joined) + blocks + std::uint64_t{80} * schedule.radix;
      std::uint64_t each = (whole_shards ? 2 : 1) * (3 * payload + partial);
      // Where the first level's blocks are all full, a rank keeps but one part in `first`: of raw values and
      // of what blocks round less than the message, of partials three such parts, and one of results.
      const std::uint64_t first = first_level(contract, schedule, ranks);
      if (ranks % first == 0) {
        const std::uint64_t raw = payload * (contract.block != 0 ? 2 : 1);
        each = std::min(each, raw + (payload + 3 * partial + first - 1) / first);
      }
      const std::uint64_t message = less(budget, most_slots * kSlotAlignment) / each;
      return whole_shards ? message / ranks : less(message, kShardSlack * ranks);
    }
    case plan::Kind::tree:
      break;
  }
  return less(budget, 4 * kSlotAlignment) / (2 * partial + 2 * payload);
}

}  // namespace

/// A launch costs as much time as some hundred KB on their way, so chunks are large, two of them under way:
/// one is exchanged while the other is folded.
Settings gpu_defaults() {
  Settings settings;
  settings.tuning.chunk_bytes = std::uint64_t{32} << 20;
  settings.tuning.chained_chunk_bytes = std::uint64_t{1} << 20;
  settings.tuning.gather_limit = std::uint64_t{2} << 20;
  settings.scratch_limit = std::size_t{64} << 20;
  return settings;
}

std::uint64_t wanted_chunk(const Settings& settings, plan::Schedule schedule) {
  if (settings.chunk_bytes != 0) return settings.chunk_bytes;
  const bool chained = schedule.kind == plan::Kind::ring || schedule.kind == plan::Kind::tree;
  return chained ? settings.tuning.chained_chunk_bytes : settings.tuning.chunk_bytes;
}

plan::Schedule choose_schedule(const Settings& settings, std::uint32_t ranks, std::uint64_t message_bytes) {
  if (settings.schedule) {
    plan::Schedule schedule = *settings.schedule;
    if (schedule.kind == plan::Kind::hier && schedule.group == 0) schedule.group = settings.group;
    return schedule;
  }
  return message_bytes <= settings.tuning.gather_limit / ranks / ranks ? plan::Schedule::gather
                                                                       : plan::Schedule::direct;
}

std::uint64_t chunk_elements(const Settings& settings, plan::Collective collective, plan::Schedule schedule,
                             std::uint32_t ranks, contract::DataType type) {
  const bool whole_shards = collective == plan::Collective::reduce_scatter &&
                            schedule.kind != plan::Kind::ring && schedule.kind != plan::Kind::tree;
  std::uint64_t bytes = wanted_chunk(settings, schedule);
  if (whole_shards) bytes /= ranks;
  const std::uint64_t wanted = bytes / contract::size_of(type);
  const std::uint64_t budget = settings.scratch_limit / std::max<std::size_t>(kMinWindow, settings.lanes);
  const std::uint64_t most = affordable(settings.contract, whole_shards, schedule, ranks, type, budget);
  return std::max<std::uint64_t>(std::min(wanted, most), 1);
}

}  // namespace detccl::engine
