// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/stream_program.h"

#include <algorithm>
#include <numeric>

#include "engine/stream/timetable.h"

namespace detccl::engine::stream {
namespace {

using device::host::Arithmetic;
using device::host::element_size;
using plan::Buffer;
using plan::Region;

/// Of scratch slots: what the fold kernels' vectors want, and a few whole cache lines.
constexpr std::size_t kAlignment = 256;

constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t bytes_of(const Region& region, const Arithmetic& arithmetic) {
  return region.count * element_size(arithmetic, region.form);
}

/// Whether every rank sends one region to all others and gets as many elements from each, either into slots
/// of scratch or in rank order around the region itself. If it is so on one rank, it is on all: in these
/// schedules each rank gets something of every other one, so it knows all sizes.
bool is_all_gather(const plan::Program& program, const plan::Stage& stage, std::uint32_t rank,
                   std::uint32_t ranks) {
  if (ranks < 2 || stage.sends.size() != ranks - 1 || stage.receives.size() != ranks - 1) return false;
  const Region& own = stage.sends.front().region;
  const bool same = std::all_of(stage.sends.begin(), stage.sends.end(),
                                [&own](const plan::Transfer& t) { return t.region == own; });
  if (!same) return false;
  return std::all_of(stage.receives.begin(), stage.receives.end(), [&](const plan::Transfer& t) {
    const Region& part = t.region;
    if (part.count != own.count || part.form != own.form) return false;
    if (part.buffer == Buffer::scratch) return program.slots[part.slot].elements == own.count;
    return part.buffer == own.buffer && part.offset + rank * own.count == own.offset + t.peer * own.count;
  });
}

struct Layout {
  std::vector<std::size_t> slots;
  std::vector<bool> gathers;  ///< by stage
  std::size_t partials = 0, scratch = 0;
};

/// Slots that an all-gather fills lie side by side in rank order, with a hole for the own part.
void place_side_by_side(Layout& layout, const plan::Stage& stage, const Arithmetic& arithmetic,
                        std::uint32_t ranks) {
  const std::size_t each = bytes_of(stage.sends.front().region, arithmetic);
  for (const plan::Transfer& t : stage.receives)
    layout.slots[t.region.slot] = layout.scratch + t.peer * each;
  layout.scratch += aligned_bytes(ranks * each);
}

/// Bytes for the partial results of the program's longest fold.
std::size_t partial_bytes(const plan::Program& program, const Arithmetic& arithmetic) {
  std::size_t most = 0;
  for (const plan::Stage& stage : program.stages) {
    for (const plan::Fold& fold : stage.folds) {
      if (fold.operands.size() <= kMaxOperands) continue;
      const std::size_t each =
          aligned_bytes(fold.result.count * element_size(arithmetic, plan::Form::partial));
      most = std::max(most, each * ((fold.operands.size() + kMaxOperands - 1) / kMaxOperands));
    }
  }
  return most;
}

Layout lay_out(const plan::Program& program, const plan::Spec& spec, std::uint32_t rank,
               const Arithmetic& arithmetic, bool gathers) {
  constexpr std::size_t kNowhere = ~std::size_t{0};
  Layout layout;
  layout.slots.assign(program.slots.size(), kNowhere);
  for (const plan::Stage& stage : program.stages) {
    const bool gather = gathers && aligned(spec) && is_all_gather(program, stage, rank, spec.ranks);
    layout.gathers.push_back(gather);
    if (gather && stage.receives.front().region.buffer == Buffer::scratch)
      place_side_by_side(layout, stage, arithmetic, spec.ranks);
  }
  for (std::size_t i = 0; i < program.slots.size(); ++i) {
    if (layout.slots[i] != kNowhere) continue;
    layout.slots[i] = layout.scratch;
    layout.scratch +=
        aligned_bytes(program.slots[i].elements * element_size(arithmetic, program.slots[i].form));
  }
  layout.partials = layout.scratch;
  layout.scratch += partial_bytes(program, arithmetic);
  return layout;
}

/// Ranks of which one has the largest scratch. Aligned schedules: shards do not grow with the rank, and only
/// the root has other slots.
std::vector<std::uint32_t> largest_candidates(const plan::Spec& spec) {
  std::vector<std::uint32_t> ranks;
  if (aligned(spec)) {
    ranks = {0, spec.root};
    if (spec.ranks > 1) ranks.push_back(1);
  } else {
    ranks.resize(spec.ranks);
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  return ranks;
}

/// Ticks from a rank's first use of its scratch until the last one is complete.
std::uint32_t scratch_life(const plan::Program& program, const Timetable& table, std::uint32_t latency) {
  std::uint32_t first = ~std::uint32_t{0}, end = 0;
  const auto use = [&](const Region& region, std::uint32_t from, std::uint32_t until) {
    if (region.buffer != Buffer::scratch) return;
    first = std::min(first, from);
    end = std::max(end, until);
  };
  std::size_t transfer = 0;
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const plan::Stage& stage = program.stages[s];
    for (const auto* transfers : {&stage.receives, &stage.sends}) {
      for (const plan::Transfer& t : *transfers) {
        const std::uint32_t tick = table.transfers[transfer++];
        use(t.region, tick, tick + 1);
      }
    }
    for (const plan::Fold& fold : stage.folds) {
      const bool partials = fold.operands.size() > kMaxOperands;
      for (const Region& region : fold.operands)
        use(region, table.folds[s], table.folds[s] + latency);
      use(fold.result, table.folds[s], table.folds[s] + latency);
      if (partials) use({0, 0, 0, Buffer::scratch}, table.folds[s], table.folds[s] + latency);
    }
  }
  return end > first ? end - first : 1;
}

std::vector<Action> actions_of(const plan::Program& program, const Timetable& table,
                               const std::vector<bool>& gathers) {
  std::vector<Action> actions;
  std::size_t transfer = 0;
  for (std::uint32_t s = 0; s < program.stages.size(); ++s) {
    const plan::Stage& stage = program.stages[s];
    const std::size_t first_action = actions.size();
    const auto at = [&](std::uint32_t tick) -> Action& {
      const auto found = std::find_if(actions.begin() + static_cast<std::ptrdiff_t>(first_action),
                                      actions.end(), [tick](const Action& a) { return a.tick == tick; });
      if (found != actions.end()) return *found;
      actions.push_back({tick, s, {}, {}, false, gathers[s]});
      return actions.back();
    };
    for (std::uint32_t i = 0; i < stage.receives.size(); ++i)
      at(table.transfers[transfer++]).receives.push_back(i);
    for (std::uint32_t i = 0; i < stage.sends.size(); ++i)
      at(table.transfers[transfer++]).sends.push_back(i);
    if (!stage.folds.empty()) at(table.folds[s]).folds = true;
  }
  std::stable_sort(actions.begin(), actions.end(),
                   [](const Action& a, const Action& b) { return a.tick < b.tick; });
  return actions;
}

}  // namespace

StreamProgram prepare(std::shared_ptr<const plan::Program> program, const plan::Spec& spec,
                      std::uint32_t rank, const Arithmetic& arithmetic, bool gathers) {
  StreamProgram prepared;
  const Layout own = lay_out(*program, spec, rank, arithmetic, gathers);
  prepared.slots = own.slots;
  prepared.partials = own.partials;
  constexpr std::uint32_t kOverlap = 2;
  std::vector<std::uint32_t> ranks = largest_candidates(spec);
  ranks.push_back(rank);
  const std::vector<Timetable> tables = timetables(spec, ranks, kOverlap);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const plan::Program other = plan::build(spec, ranks[i]);
    prepared.scratch =
        std::max(prepared.scratch, lay_out(other, spec, ranks[i], arithmetic, gathers).scratch);
    prepared.scratch_life = std::max(prepared.scratch_life, scratch_life(other, tables[i], kOverlap));
  }
  prepared.kind = {spec.collective, spec.schedule, spec.root};
  const Timetable serial = timetables(spec, {rank}, 1).front();
  const Timetable& overlapped = tables.back();
  prepared.serial = actions_of(*program, serial, own.gathers);
  prepared.overlapped = actions_of(*program, overlapped, own.gathers);
  prepared.serial_length = serial.length;
  prepared.overlapped_length = overlapped.length;
  prepared.program = std::move(program);
  return prepared;
}

}  // namespace detccl::engine::stream
