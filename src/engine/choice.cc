// SPDX-License-Identifier: Apache-2.0
#include "engine/choice.h"

#include <algorithm>
#include <bit>

namespace detccl::engine {
namespace {

using plan::Kind;
using plan::Schedule;
using plan::tuner::Coefficients;
using plan::tuner::Question;

/// The chunk sizes that are considered: powers of two.
constexpr std::uint64_t kLeastChunk = std::uint64_t{64} << 10, kMostChunk = std::uint64_t{128} << 20;

/// How many blocks halving may join at a time, beside two.
constexpr std::uint32_t kLongStrides[] = {8, 32};

/// Chunks of a call, at most: room for the pieces of a reduce_scatter.
constexpr std::uint64_t kMostChunks = kMaxJobs / 4;

bool scatters(const Question& q) {
  return q.collective == plan::Collective::reduce_scatter;
}

/// The first one is the rule's.
std::vector<Schedule> schedules(const Settings& settings, const Question& q) {
  std::vector<Schedule> list{choose_schedule(settings, q.ranks, q.bytes)};
  if (settings.schedule) return list;
  std::vector<Schedule> all{Schedule::gather, Schedule::direct, Schedule::ring, Schedule::tree,
                            Schedule::halving};
  const std::uint32_t group = settings.group > 1 && settings.group < q.ranks ? settings.group : 0;
  if (group != 0) {
    all.push_back(plan::hier(Kind::direct, Kind::halving, group));
    all.push_back(plan::hier(Kind::direct, Kind::direct, group));
  }
  for (const std::uint32_t radix : kLongStrides) {
    if (group != 0 && q.ranks > group * radix)
      all.push_back(plan::hier(Kind::direct, Kind::halving, group, radix));
    if (q.ranks > radix) all.push_back(plan::halving_by(radix));
  }
  for (const Schedule& schedule : all) {
    if (schedule != list.front() && plan::supports(schedule, settings.contract)) list.push_back(schedule);
  }
  return list;
}

/// Whether the call goes into so many chunks that it would be refused.
bool too_many(const Question& q, const Schedule& schedule, std::uint64_t chunk) {
  const bool pieces = scatters(q) && (schedule.kind == Kind::ring || schedule.kind == Kind::tree);
  return q.bytes / chunk >= kMostChunks / (pieces ? q.ranks : 1);
}

/// One option, unless it is there already. `usual`: what is wanted in a wave where a message is no more than
/// a chunk, so that many of them go together.
void append(const Settings& settings, const Coefficients& c, const Question& q, Schedule schedule,
            std::uint64_t usual, std::vector<Option>& list) {
  Choice choice;
  choice.schedule = schedule;
  choice.chunk = chunk_elements(settings, q.collective, schedule, q.ranks, q.type);
  const std::uint64_t chunk = chunk_bytes(q, choice.chunk);
  choice.wave_bytes = wanted_chunk(settings, schedule);
  if (chunk == q.bytes) choice.wave_bytes = std::max(choice.wave_bytes, usual);
  const auto same = [&](const Option& o) {
    return o.choice.schedule == schedule && chunk_bytes(q, o.choice.chunk) == chunk;
  };
  if (!list.empty() && (std::any_of(list.begin(), list.end(), same) || too_many(q, schedule, chunk))) return;
  const auto terms = plan::tuner::predict(q, schedule, static_cast<double>(chunk), c);
  choice.predicted = terms.total();
  list.push_back({choice, terms, std::max(kGain, c.errors[static_cast<std::size_t>(schedule.kind)])});
}

}  // namespace

Question question(const Settings& settings, plan::Collective collective, std::uint32_t ranks,
                  contract::DataType type, std::uint64_t message_bytes) {
  return {collective,   settings.contract, type, ranks, settings.near != 0 ? settings.near : settings.group,
          message_bytes};
}

std::uint64_t chunk_bytes(const Question& q, std::uint64_t elements) {
  const std::uint64_t shards = scatters(q) ? q.ranks : 1;
  return std::min(elements * contract::size_of(q.type) * shards, q.bytes);
}

std::vector<Option> options(const Settings& settings, const Coefficients& c, const Question& q) {
  std::vector<Option> list;
  Settings with = settings;
  for (const Schedule& schedule : schedules(settings, q)) {
    const std::uint64_t usual = wanted_chunk(settings, schedule);
    if (list.empty() || settings.chunk_bytes != 0) append(settings, c, q, schedule, usual, list);
    if (settings.chunk_bytes != 0) continue;
    const std::uint64_t most = std::bit_ceil(std::clamp(q.bytes, kLeastChunk, kMostChunk));
    for (with.chunk_bytes = kLeastChunk; with.chunk_bytes <= most; with.chunk_bytes *= 2)
      append(with, c, q, schedule, usual, list);
  }
  return list;
}

std::vector<Schedule> tuned_schedules(const Settings& settings, std::uint32_t ranks) {
  if (settings.coefficients == nullptr || settings.schedule) return {};
  std::vector<Schedule> list = schedules(settings, question(settings, {}, ranks, {}, 0));
  std::erase_if(list, [](const Schedule& s) { return s == Schedule::gather || s == Schedule::direct; });
  return list;
}

std::size_t best(const std::vector<Option>& options) {
  std::size_t quickest = 0;
  const double rule = options.front().choice.predicted;
  for (std::size_t i = 1; i < options.size(); ++i) {
    const double time = options[i].choice.predicted;
    if (time < rule * (1 - options[i].gain) && time < options[quickest].choice.predicted) quickest = i;
  }
  return quickest;
}

Choice Chooser::make(const Settings& settings, const Reduction& call, std::uint64_t bytes) const {
  if (settings.coefficients != nullptr && ranks_ > 1 && bytes != 0) {
    const Question q = question(settings, call.collective, ranks_, call.type, bytes);
    const std::vector<Option> all = options(settings, *settings.coefficients, q);
    return all[best(all)].choice;
  }
  Choice choice;
  choice.schedule = choose_schedule(settings, ranks_, bytes);
  choice.chunk = chunk_elements(settings, call.collective, choice.schedule, ranks_, call.type);
  choice.wave_bytes = wanted_chunk(settings, choice.schedule);
  return choice;
}

void Chooser::tell(const Reduction& call, std::uint64_t bytes, const Choice& choice) {
  if (!settings_.on_choice) return;
  const std::size_t kind =
      static_cast<std::size_t>(call.collective) * contract::kDataTypes + static_cast<std::size_t>(call.type);
  const std::uint64_t bit = std::uint64_t{1} << (std::bit_width(bytes) % 64);
  if ((told_[kind] & bit) == 0) settings_.on_choice(call, choice);
  told_[kind] |= bit;
}

Choice Chooser::choose(const Reduction& call) {
  const std::uint64_t shards = call.collective == plan::Collective::reduce_scatter ? ranks_ : 1;
  const std::uint64_t bytes = call.count * shards * contract::size_of(call.type);
  if (call.schedule) {
    Settings settings = settings_;
    settings.schedule = call.schedule;
    return make(settings, call, bytes);
  }
  std::uint64_t key = call.count * 0x9e3779b97f4a7c15u;
  key ^= static_cast<std::uint64_t>(call.collective) * 5 + static_cast<std::uint64_t>(call.type) * 29;
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[(key >> 32 ^ key) % kept_.size()];
  const bool known =
      kept.used && kept.collective == call.collective && kept.type == call.type && kept.count == call.count;
  if (known) return kept.choice;
  kept = {true, call.collective, call.type, call.count, make(settings_, call, bytes)};
  tell(call, bytes, kept.choice);
  return kept.choice;
}

}  // namespace detccl::engine
