// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/timetable.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <unordered_map>

namespace detccl::engine::stream {
namespace {

/// What one rank has still before it.
struct Traveller {
  plan::Program program;
  Timetable table;
  std::size_t stage = 0;
  std::size_t first = 0;    ///< index of the stage's first transfer in table.transfers
  std::size_t waiting = 0;  ///< transfers of the stage whose tick is not known yet
  std::uint32_t ready = 0;  ///< tick from which the stage's transfers can be
};

/// One end of a transfer that waits for the other.
struct End {
  std::uint32_t rank = 0;
  std::size_t transfer = 0;
};

/// Runs all ranks' programs, where a transfer takes place in the first tick in which both of its ends can.
class Journey {
 public:
  Journey(const plan::Spec& spec, std::uint32_t latency) : latency_(latency) {
    for (std::uint32_t rank = 0; rank < spec.ranks; ++rank)
      travellers_.push_back({plan::build(spec, rank), {}, 0, 0, 0, 0});
    for (std::uint32_t rank = 0; rank < spec.ranks; ++rank)
      enter_stage(rank);
    while (!arrived_.empty()) {
      const std::uint32_t rank = arrived_.front();
      arrived_.pop_front();
      finish_stage(rank);
    }
  }

  std::uint32_t length() const { return length_; }
  Timetable take(std::uint32_t rank) {
    const Traveller& traveller = travellers_[rank];
    if (traveller.stage != traveller.program.stages.size())
      throw std::logic_error("a plan's transfers do not pair");
    return traveller.table;
  }

 private:
  void enter_stage(std::uint32_t rank) {
    Traveller& t = travellers_[rank];
    if (t.stage == t.program.stages.size()) return;
    const plan::Stage& stage = t.program.stages[t.stage];
    t.first = t.table.transfers.size();
    t.waiting = stage.receives.size() + stage.sends.size();
    t.table.transfers.resize(t.first + t.waiting);
    std::size_t transfer = t.first;
    if (t.waiting == 0) arrived_.push_back(rank);
    for (const plan::Transfer& receive : stage.receives)
      pair(receive.peer, rank, {rank, transfer++}, false);
    for (const plan::Transfer& send : stage.sends)
      pair(rank, send.peer, {rank, transfer++}, true);
  }

  void pair(std::uint32_t from, std::uint32_t to, const End& end, bool sends) {
    Channel& channel = channels_[std::uint64_t{from} << 32 | to];
    std::deque<End>& others = sends ? channel.receives : channel.sends;
    if (others.empty()) {
      (sends ? channel.sends : channel.receives).push_back(end);
      return;
    }
    const End other = others.front();
    others.pop_front();
    const std::uint32_t tick = std::max(travellers_[end.rank].ready, travellers_[other.rank].ready);
    settle(end, tick);
    settle(other, tick);
  }

  void settle(const End& end, std::uint32_t tick) {
    Traveller& t = travellers_[end.rank];
    t.table.transfers[end.transfer] = tick;
    if (--t.waiting == 0) arrived_.push_back(end.rank);
  }

  void finish_stage(std::uint32_t rank) {
    Traveller& t = travellers_[rank];
    std::uint32_t last = t.ready;
    for (std::size_t i = t.first; i < t.table.transfers.size(); ++i)
      last = std::max(last, t.table.transfers[i]);
    const bool folds = !t.program.stages[t.stage].folds.empty();
    t.table.folds.push_back(last);
    t.ready = last + (folds ? latency_ : 1);
    length_ = std::max(length_, t.ready);
    ++t.stage;
    enter_stage(rank);
  }

  struct Channel {
    std::deque<End> sends, receives;
  };

  std::uint32_t latency_, length_ = 0;
  std::vector<Traveller> travellers_;
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::deque<std::uint32_t> arrived_;
};

/// All ranks go in step: what a step folds takes `latency` ticks, moving results one.
std::uint32_t tick_of(std::uint32_t step, const plan::Steps& steps, std::uint32_t latency) {
  const std::uint32_t folding = std::min(step, steps.folding);
  return folding * latency + (step - folding);
}

Timetable in_step(const plan::Program& program, const plan::Steps& steps, std::uint32_t latency) {
  Timetable table;
  for (const plan::Stage& stage : program.stages) {
    std::uint32_t last = 0;
    for (const auto* list : {&stage.receives, &stage.sends}) {
      for (const plan::Transfer& t : *list) {
        table.transfers.push_back(tick_of(t.step, steps, latency));
        last = std::max(last, table.transfers.back());
      }
    }
    table.folds.push_back(last);
  }
  table.length = tick_of(steps.folding + steps.moving, steps, latency);
  return table;
}

}  // namespace

bool aligned(const plan::Spec& spec) {
  const plan::Kind kind = spec.schedule.kind;
  return spec.ranks == 1 || kind == plan::Kind::gather || kind == plan::Kind::direct;
}

std::vector<Timetable> timetables(const plan::Spec& spec, const std::vector<std::uint32_t>& ranks,
                                  std::uint32_t latency) {
  std::vector<Timetable> tables;
  if (const auto steps = plan::steps(spec)) {
    for (const std::uint32_t rank : ranks)
      tables.push_back(in_step(plan::build(spec, rank), *steps, latency));
    return tables;
  }
  Journey journey(spec, latency);
  for (const std::uint32_t rank : ranks) {
    tables.push_back(journey.take(rank));
    tables.back().length = journey.length();
  }
  return tables;
}

}  // namespace detccl::engine::stream
