// SPDX-License-Identifier: Apache-2.0
#include "simulate/shape.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/stream/timetable.h"

namespace detccl::simulate {
namespace {

using engine::stream::Timetable;
using plan::Region;

/// As the engine aligns scratch slots.
constexpr std::size_t kAlignment = 256;

class Sizes {
 public:
  Sizes(const plan::Spec& spec, contract::DataType type)
      : payload_(contract::size_of(type)),
        partial_(contract::size_of(contract::accumulation_type(type, spec.contract.accumulate))) {}
  double bytes(const Region& r) const { return static_cast<double>(r.count * element(r.form)); }
  std::size_t element(plan::Form form) const { return form == plan::Form::partial ? partial_ : payload_; }

 private:
  std::size_t payload_, partial_;
};

/// The engine leaves it to NCCL when everyone sends one region to all others and all are of one size.
bool is_all_gather(const plan::Spec& spec, const plan::Stage& stage) {
  if (!engine::stream::aligned(spec) || spec.ranks < 2 || stage.sends.size() != spec.ranks - 1 ||
      stage.receives.size() != spec.ranks - 1)
    return false;
  const Region& own = stage.sends.front().region;
  return std::all_of(stage.sends.begin(), stage.sends.end(),
                     [&own](const plan::Transfer& t) { return t.region == own; }) &&
         std::all_of(stage.receives.begin(), stage.receives.end(), [&own](const plan::Transfer& t) {
           return t.region.count == own.count && t.region.form == own.form;
         });
}

double fold_bytes(const plan::Stage& stage, const Sizes& sizes) {
  double sum = 0;
  for (const plan::Fold& fold : stage.folds) {
    sum += sizes.bytes(fold.result);
    for (const Region& operand : fold.operands)
      sum += sizes.bytes(operand);
  }
  return sum;
}

/// Transfers between two ranks in one tick share one route and end together, so they are one message; they
/// are in the same tick at both ends.
void add(std::vector<Message>& messages, std::uint32_t peer, double bytes) {
  const auto same =
      std::find_if(messages.rbegin(), messages.rend(), [peer](const Message& m) { return m.peer == peer; });
  if (same != messages.rend()) {
    same->bytes += bytes;
    ++same->transfers;
  } else {
    messages.push_back({peer, bytes});
  }
}

std::vector<Action> actions_of(const plan::Spec& spec, const plan::Program& program, const Timetable& table,
                               const Sizes& sizes) {
  std::map<std::uint32_t, Action> actions;
  const auto at = [&actions](std::uint32_t tick) -> Action& {
    Action& action = actions[tick];
    action.tick = tick;
    return action;
  };
  std::size_t transfer = 0;
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const plan::Stage& stage = program.stages[s];
    if (is_all_gather(spec, stage)) {
      at(table.transfers[transfer]).gathered = sizes.bytes(stage.sends.front().region);
      transfer += stage.receives.size() + stage.sends.size();
    } else {
      for (const plan::Transfer& t : stage.receives)
        add(at(table.transfers[transfer++]).receives, t.peer, sizes.bytes(t.region));
      for (const plan::Transfer& t : stage.sends)
        add(at(table.transfers[transfer++]).sends, t.peer, sizes.bytes(t.region));
    }
    if (stage.folds.empty()) continue;
    at(table.folds[s]).fold_bytes += fold_bytes(stage, sizes);
    at(table.folds[s]).folds += static_cast<std::uint32_t>(stage.folds.size());
  }
  std::vector<Action> list;
  for (auto& [tick, action] : actions)
    list.push_back(std::move(action));
  return list;
}

/// When a rank uses its scratch first, and when it has done with it.
std::uint32_t scratch_life(const plan::Program& program, const Timetable& table, std::uint32_t latency) {
  std::uint32_t first = ~std::uint32_t{0}, end = 0;
  const auto use = [&](const Region& region, std::uint32_t from, std::uint32_t until) {
    if (region.buffer != plan::Buffer::scratch) return;
    first = std::min(first, from);
    end = std::max(end, until);
  };
  std::size_t transfer = 0;
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const plan::Stage& stage = program.stages[s];
    for (const auto* list : {&stage.receives, &stage.sends}) {
      for (const plan::Transfer& t : *list) {
        use(t.region, table.transfers[transfer], table.transfers[transfer] + 1);
        ++transfer;
      }
    }
    for (const plan::Fold& fold : stage.folds) {
      use(fold.result, table.folds[s], table.folds[s] + latency);
      for (const Region& operand : fold.operands)
        use(operand, table.folds[s], table.folds[s] + latency);
    }
  }
  return end > first ? end - first : 1;
}

}  // namespace

Shape shape_of(const plan::Spec& spec, contract::DataType type, std::uint32_t latency) {
  const Sizes sizes(spec, type);
  std::vector<std::uint32_t> ranks(spec.ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<Timetable> tables = engine::stream::timetables(spec, ranks, latency);
  Shape shape;
  for (const std::uint32_t rank : ranks) {
    const plan::Program program = plan::build(spec, rank);
    std::size_t scratch = 0;
    for (const plan::Slot& slot : program.slots)
      scratch += (slot.elements * sizes.element(slot.form) + kAlignment - 1) / kAlignment * kAlignment;
    shape.scratch = std::max(shape.scratch, scratch);
    shape.length = std::max(shape.length, tables[rank].length);
    shape.life = std::max(shape.life, scratch_life(program, tables[rank], latency));
    shape.ranks.push_back(actions_of(spec, program, tables[rank], sizes));
  }
  return shape;
}

}  // namespace detccl::simulate
