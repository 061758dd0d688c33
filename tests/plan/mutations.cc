// SPDX-License-Identifier: Apache-2.0
#include "mutations.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace detccl::plan::testing {
namespace {

// Where things are in a plan: pointers to all transfers, folds or regions that satisfy a condition, of which
// a mutation picks one.

struct StageAt {
  std::uint32_t rank;
  std::size_t index;
  Program* program;
  Stage& stage() const { return program->stages[index]; }
};

std::vector<StageAt> stages(Plan& plan) {
  std::vector<StageAt> list;
  for (std::uint32_t rank = 0; rank < plan.programs.size(); ++rank) {
    Program& program = plan.programs[rank];
    for (std::size_t i = 0; i < program.stages.size(); ++i)
      list.push_back({rank, i, &program});
  }
  return list;
}

struct TransferAt {
  StageAt at;
  bool is_send;
  std::size_t index;
  std::vector<Transfer>& list() const { return is_send ? at.stage().sends : at.stage().receives; }
  Transfer& transfer() const { return list()[index]; }
};

std::vector<TransferAt> transfers(Plan& plan) {
  std::vector<TransferAt> list;
  for (const StageAt& at : stages(plan)) {
    for (std::size_t i = 0; i < at.stage().sends.size(); ++i)
      list.push_back({at, true, i});
    for (std::size_t i = 0; i < at.stage().receives.size(); ++i)
      list.push_back({at, false, i});
  }
  return list;
}

struct FoldAt {
  StageAt at;
  std::size_t index;
  Fold& fold() const { return at.stage().folds[index]; }
};

std::vector<FoldAt> folds(Plan& plan) {
  std::vector<FoldAt> list;
  for (const StageAt& at : stages(plan)) {
    for (std::size_t i = 0; i < at.stage().folds.size(); ++i)
      list.push_back({at, i});
  }
  return list;
}

struct RegionAt {
  std::uint32_t rank;
  Program* program;
  Region* region;
  bool written;
};

std::vector<RegionAt> regions(Plan& plan) {
  std::vector<RegionAt> list;
  for (const TransferAt& t : transfers(plan)) {
    list.push_back({t.at.rank, t.at.program, &t.transfer().region, !t.is_send});
  }
  for (const FoldAt& f : folds(plan)) {
    for (Region& r : f.fold().operands)
      list.push_back({f.at.rank, f.at.program, &r, false});
    list.push_back({f.at.rank, f.at.program, &f.fold().result, true});
  }
  return list;
}

template <class T, class Condition>
std::vector<T> only(std::vector<T> list, const Condition& wanted) {
  std::vector<T> kept;
  std::copy_if(list.begin(), list.end(), std::back_inserter(kept), wanted);
  return kept;
}

template <class T>
std::optional<T> any(const std::vector<T>& list, Random& random) {
  if (list.empty()) return std::nullopt;
  return list[pick_index(random, list.size())];
}

template <class T>
void erase(std::vector<T>& list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

bool overlap(const Region& a, const Region& b) {
  return a.offset < b.offset + b.count && b.offset < a.offset + a.count;
}

/// A new slot like the one at `like`.
Region fresh_slot(Program& program, const Region& like) {
  program.slots.push_back({like.count, like.form});
  return {0, like.count, static_cast<std::uint32_t>(program.slots.size() - 1), Buffer::scratch, like.form};
}

// Folds.

/// Another order of different operands is another expression.
bool swap_operands(Plan& plan, Random& random) {
  const auto list = only(folds(plan), [](const FoldAt& f) { return f.fold().operands.size() >= 2; });
  const auto f = any(list, random);
  if (!f) return false;
  auto& operands = f->fold().operands;
  const std::size_t a = pick_index(random, operands.size());
  const std::size_t b = (a + pick(random, 1, operands.size() - 1)) % operands.size();
  std::swap(operands[a], operands[b]);
  return true;
}

/// A rank's value is missing.
bool drop_operand(Plan& plan, Random& random) {
  const auto f = any(folds(plan), random);
  if (!f) return false;
  erase(f->fold().operands, pick_index(random, f->fold().operands.size()));
  return true;
}

/// A value counts twice.
bool repeat_operand(Plan& plan, Random& random) {
  const auto f = any(folds(plan), random);
  if (!f) return false;
  auto& operands = f->fold().operands;
  operands.push_back(operands[pick_index(random, operands.size())]);
  return true;
}

/// Every fold's result is sent, folded or the output.
bool drop_fold(Plan& plan, Random& random) {
  const auto f = any(folds(plan), random);
  if (!f) return false;
  erase(f->at.stage().folds, f->index);
  return true;
}

/// x_0 (+) (x_1 … x_k-1) is neither order's expression for three or more values.
bool reassociate(Plan& plan, Random& random) {
  const auto list = only(folds(plan), [](const FoldAt& f) { return f.fold().operands.size() >= 3; });
  const auto f = any(list, random);
  if (!f) return false;
  Region rest = fresh_slot(*f->at.program, f->fold().result);
  rest.form = f->at.program->slots.back().form = Form::partial;
  Fold first{f->fold().operands, rest};
  const Region head = first.operands.front();
  first.operands.erase(first.operands.begin());
  f->fold().operands = {head, rest};
  auto& all = f->at.stage().folds;
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(f->index), first);
  return true;
}

/// The result goes where nobody looks for it.
bool fold_elsewhere(Plan& plan, Random& random) {
  const auto f = any(folds(plan), random);
  if (!f) return false;
  f->fold().result = fresh_slot(*f->at.program, f->fold().result);
  return true;
}

/// The next stage sends the result: a fold there comes too late.
bool late_fold(Plan& plan, Random& random) {
  const auto list = only(folds(plan), [](const FoldAt& f) {
    if (f.at.index + 1 == f.at.program->stages.size()) return false;
    const auto& sends = f.at.program->stages[f.at.index + 1].sends;
    return std::any_of(sends.begin(), sends.end(),
                       [&](const Transfer& t) { return t.region == f.fold().result; });
  });
  const auto f = any(list, random);
  if (!f) return false;
  f->at.program->stages[f->at.index + 1].folds.push_back(f->fold());
  erase(f->at.stage().folds, f->index);
  return true;
}

/// v (+) v takes the place of v just before v is folded.
bool clobber_operand(Plan& plan, Random& random) {
  const auto f = any(folds(plan), random);
  if (!f) return false;
  const auto list = only(f->fold().operands, [](const Region& r) {
    return r.buffer == Buffer::scratch && (r.form == Form::partial || r.form == Form::rounded);
  });
  const auto found = any(list, random);
  if (!found) return false;
  const Fold doubling{{*found, *found}, *found};
  auto& all = f->at.stage().folds;
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(f->index), doubling);
  return true;
}

// Transfers.

/// Its partner is alone, or gets another one's.
bool drop_transfer(Plan& plan, Random& random) {
  const auto t = any(transfers(plan), random);
  if (!t) return false;
  erase(t->list(), t->index);
  return true;
}

/// One more than the other side has.
bool repeat_transfer(Plan& plan, Random& random) {
  const auto t = any(transfers(plan), random);
  if (!t) return false;
  const Transfer copy = t->transfer();
  t->list().push_back(copy);
  return true;
}

/// One more than the other side has, one fewer than another one has.
bool wrong_peer(Plan& plan, Random& random) {
  const auto t = any(transfers(plan), random);
  if (!t) return false;
  Transfer& transfer = t->transfer();
  transfer.peer = (transfer.peer + static_cast<std::uint32_t>(pick(random, 1, plan.spec.ranks))) %
                  (plan.spec.ranks + 1);  // perhaps the own rank, or none
  return true;
}

/// Two peers' transfers of one stage exchanged. All receives of a stage have different uses; of the sends,
/// only those that read the same are alike.
bool swap_peers(Plan& plan, Random& random) {
  const auto t = any(transfers(plan), random);
  if (!t) return false;
  Transfer& one = t->transfer();
  Transfer& other = t->list()[pick_index(random, t->list().size())];
  if (one.peer == other.peer || one.region == other.region) return false;
  std::swap(one.peer, other.peer);
  return true;
}

/// Two transfers with the same peer in the other order. They differ, so each partner gets the other's.
bool reorder_pair(Plan& plan, Random& random) {
  const auto t = any(transfers(plan), random);
  if (!t) return false;
  const auto others = only(transfers(plan), [&](const TransferAt& o) {
    return o.at.rank == t->at.rank && o.is_send == t->is_send && o.transfer().peer == t->transfer().peer &&
           !(o.transfer().region == t->transfer().region);
  });
  const auto other = any(others, random);
  if (!other) return false;
  std::swap(t->transfer(), other->transfer());
  return true;
}

/// What a fold of the stage needs comes after it.
bool late_receive(Plan& plan, Random& random) {
  const auto list = only(transfers(plan), [](const TransferAt& t) {
    const auto& all = t.at.stage().folds;
    return !t.is_send && std::any_of(all.begin(), all.end(), [&](const Fold& f) {
      return std::find(f.operands.begin(), f.operands.end(), t.transfer().region) != f.operands.end();
    });
  });
  const auto t = any(list, random);
  if (!t) return false;
  const Transfer moved = t->transfer();
  erase(t->list(), t->index);
  auto& all = t->at.program->stages;
  if (t->at.index + 1 == all.size()) all.emplace_back();
  all[t->at.index + 1].receives.push_back(moved);
  return true;
}

/// Send and receive of one element less: that element is missing where it was received, where all are used.
bool shorten_both(Plan& plan, Random& random) {
  const auto sends = only(transfers(plan), [](const TransferAt& t) { return t.is_send; });
  const auto send = any(sends, random);
  if (!send) return false;
  std::size_t k = 0;  // the send is the k-th to its peer
  for (const TransferAt& t : sends) {
    if (t.at.rank != send->at.rank || t.transfer().peer != send->transfer().peer) continue;
    if (t.at.index == send->at.index && t.index == send->index) break;
    ++k;
  }
  const auto receives = only(transfers(plan), [&](const TransferAt& t) {
    return !t.is_send && t.at.rank == send->transfer().peer && t.transfer().peer == send->at.rank;
  });
  --send->transfer().region.count;
  --receives.at(k).transfer().region.count;
  return true;
}

// Stages.

/// Transfers without partners, or outputs that are not written.
bool drop_stage(Plan& plan, Random& random) {
  const auto s = any(stages(plan), random);
  if (!s) return false;
  erase(s->program->stages, s->index);
  return true;
}

/// Each stage needs what the one before gave, from its own rank or, by way of others, from what it sent.
bool swap_stages(Plan& plan, Random& random) {
  const auto s = any(stages(plan), random);
  if (!s || s->index + 1 == s->program->stages.size()) return false;
  std::swap(s->stage(), s->program->stages[s->index + 1]);
  return true;
}

/// Two ranks that send to each other in one stage both send first and receive when that is done.
bool send_first(Plan& plan, Random& random) {
  const auto t = any(transfers(plan), random);
  if (!t) return false;
  const std::uint32_t peer = t->transfer().peer;
  Program* ends[] = {t->at.program, &plan.programs[peer]};
  const std::uint32_t other[] = {peer, t->at.rank};
  const auto has = [](const std::vector<Transfer>& list, std::uint32_t p) {
    return std::any_of(list.begin(), list.end(), [&](const Transfer& x) { return x.peer == p; });
  };
  for (int e = 0; e < 2; ++e) {
    const auto& all = ends[e]->stages;
    if (t->at.index >= all.size()) return false;
    if (!has(all[t->at.index].sends, other[e]) || !has(all[t->at.index].receives, other[e])) return false;
  }
  for (Program* end : ends) {
    Stage first;
    first.sends = std::exchange(end->stages[t->at.index].sends, {});
    end->stages.insert(end->stages.begin() + static_cast<std::ptrdiff_t>(t->at.index), first);
  }
  return true;
}

// Regions.

/// One element off. In scratch, regions start where the slot does.
bool off_by_one(Plan& plan, Random& random) {
  const auto r = any(regions(plan), random);
  if (!r) return false;
  Region& region = *r->region;
  switch (pick(random, 0, 3)) {
    case 0:
      ++region.offset;
      break;
    case 1:
      --region.offset;
      break;
    case 2:
      ++region.count;
      break;
    default:
      --region.count;
      break;
  }
  return true;
}

/// As many elements from another place of the same buffer.
bool other_elements(Plan& plan, Random& random) {
  const auto list =
      only(regions(plan), [](const RegionAt& r) { return r.region->buffer != Buffer::scratch; });
  const auto r = any(list, random);
  if (!r) return false;
  const std::uint64_t end = plan.spec.collective == Collective::reduce_scatter && !r->written
                                ? plan.spec.stride * plan.spec.ranks
                                : plan.spec.count;
  if (r->region->count >= end) return false;
  const std::uint64_t offset = pick(random, 0, end - r->region->count);
  if (offset == r->region->offset) return false;
  r->region->offset = offset;
  return true;
}

/// Another slot than the one that is written or read elsewhere. No two slots ever have the same content.
bool wrong_slot(Plan& plan, Random& random) {
  const auto list =
      only(regions(plan), [](const RegionAt& r) { return r.region->buffer == Buffer::scratch; });
  const auto r = any(list, random);
  if (!r) return false;
  const std::size_t slots = r->program->slots.size();
  r->region->slot = static_cast<std::uint32_t>((r->region->slot + pick(random, 1, slots)) % (slots + 1));
  return true;
}

/// Scratch in place of an input or output, or the other way round.
bool wrong_buffer(Plan& plan, Random& random) {
  const auto r = any(regions(plan), random);
  if (!r) return false;
  const auto shift = static_cast<std::uint8_t>(pick(random, 1, 2));
  r->region->buffer = static_cast<Buffer>((static_cast<std::uint8_t>(r->region->buffer) + shift) % 3);
  return true;
}

bool wrong_form(Plan& plan, Random& random) {
  const auto r = any(regions(plan), random);
  if (!r) return false;
  const auto shift = static_cast<std::uint8_t>(pick(random, 1, 3));
  r->region->form = static_cast<Form>((static_cast<std::uint8_t>(r->region->form) + shift) % 4);
  return true;
}

/// A slot of another form, wherever it is used: then a transfer's ends differ, or a sum is rounded where it
/// must not be or not rounded where it must.
bool retype_slot(Plan& plan, Random& random) {
  const auto list =
      only(regions(plan), [](const RegionAt& r) { return r.region->buffer == Buffer::scratch; });
  const auto r = any(list, random);
  if (!r) return false;
  const std::uint32_t slot = r->region->slot;
  const auto shift = static_cast<std::uint8_t>(pick(random, 1, 3));
  const auto form = static_cast<Form>((static_cast<std::uint8_t>(r->region->form) + shift) % 4);
  r->program->slots[slot].form = form;
  for (const RegionAt& use : list) {
    if (use.rank == r->rank && use.region->slot == slot) use.region->form = form;
  }
  return true;
}

/// Two operands of one fold in the same slot: one is overwritten by the other while it is needed.
bool share_slot(Plan& plan, Random& random) {
  const auto f = any(folds(plan), random);
  if (!f) return false;
  const auto list = only(f->fold().operands, [](const Region& r) { return r.buffer == Buffer::scratch; });
  if (list.size() < 2) return false;
  const std::uint32_t from = list[0].slot, to = list[pick(random, 1, list.size() - 1)].slot;
  if (f->at.program->slots[from].form != f->at.program->slots[to].form) return false;
  for (const RegionAt& r : regions(plan)) {
    if (r.rank == f->at.rank && r.region->buffer == Buffer::scratch && r.region->slot == from) {
      r.region->slot = to;
    }
  }
  return true;
}

// In place.

/// In place, a part of the input is sent in a later stage, which receives results to where it is.
bool clobber_input(Plan& plan, Random& random) {
  if (!plan.in_place) return false;
  const auto list = only(transfers(plan), [&](const TransferAt& t) {
    if (!t.is_send || t.transfer().region.buffer != Buffer::input) return false;
    if (t.at.index + 1 == t.at.program->stages.size()) return false;
    const auto& later = t.at.program->stages[t.at.index + 1].receives;
    return std::any_of(later.begin(), later.end(), [&](const Transfer& r) {
      return r.region.buffer == Buffer::output && overlap(r.region, t.transfer().region);
    });
  });
  const auto t = any(list, random);
  if (!t) return false;
  auto& later = t->at.program->stages[t->at.index + 1].sends;
  later.insert(later.begin(), t->transfer());
  erase(t->list(), t->index);
  return true;
}

// The contract: the plan is right for another one only.

/// A chain's sums for the tree or the other way round. (x_0 + x_1) + x_2 is both.
bool other_order(Plan& plan, Random&) {
  Spec& spec = plan.spec;
  const bool two_by_two = spec.schedule == Schedule::ring || spec.schedule == Schedule::tree;
  if (!two_by_two || spec.contract.block != 0 || spec.ranks < 4) return false;
  const bool tree = spec.contract.order == contract::Order::tree;
  spec.contract.order = tree ? contract::Order::linear : contract::Order::tree;
  spec.schedule = Schedule::gather;  // one that goes with both
  return true;
}

/// Where there are blocks of one size or the other, they are different ones.
bool other_block(Plan& plan, Random& random) {
  auto& contract = plan.spec.contract;
  const std::uint32_t sizes[] = {0, 2, 4, 8};
  const std::uint32_t block = sizes[pick_index(random, std::size(sizes))];
  const bool one_block_both =
      block != 0 && contract.block != 0 && plan.spec.ranks <= std::min(block, contract.block);
  if (block == contract.block || plan.spec.ranks == 1 || one_block_both) return false;
  contract.accumulate = contract::Accumulate::wide;
  contract.block = block;
  return true;
}

bool other_root(Plan& plan, Random& random) {
  if (plan.spec.collective != Collective::reduce || plan.spec.ranks == 1) return false;
  plan.spec.root =
      static_cast<std::uint32_t>((plan.spec.root + pick(random, 1, plan.spec.ranks - 1)) % plan.spec.ranks);
  return true;
}

constexpr Mutation kMutations[] = {
    {"swap_operands", swap_operands},   {"drop_operand", drop_operand},
    {"repeat_operand", repeat_operand}, {"drop_fold", drop_fold},
    {"reassociate", reassociate},       {"fold_elsewhere", fold_elsewhere},
    {"late_fold", late_fold},           {"clobber_operand", clobber_operand},
    {"drop_transfer", drop_transfer},   {"repeat_transfer", repeat_transfer},
    {"wrong_peer", wrong_peer},         {"swap_peers", swap_peers},
    {"reorder_pair", reorder_pair},     {"late_receive", late_receive},
    {"shorten_both", shorten_both},     {"drop_stage", drop_stage},
    {"swap_stages", swap_stages},       {"send_first", send_first},
    {"off_by_one", off_by_one},         {"other_elements", other_elements},
    {"wrong_slot", wrong_slot},         {"wrong_buffer", wrong_buffer},
    {"wrong_form", wrong_form},         {"retype_slot", retype_slot},
    {"share_slot", share_slot},         {"clobber_input", clobber_input},
    {"other_order", other_order},       {"other_block", other_block},
    {"other_root", other_root},
};

}  // namespace

std::span<const Mutation> mutations() {
  return kMutations;
}

}  // namespace detccl::plan::testing
