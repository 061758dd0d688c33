// SPDX-License-Identifier: Apache-2.0
// Faults in where things are, and plans for other contracts.
#include "mutations.h"

#include <algorithm>
#include <iterator>

#include "places.h"

namespace detccl::plan::testing {
namespace {

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
  const Region& other = list[pick(random, 1, list.size() - 1)];
  const std::uint32_t from = list[0].slot, to = other.slot;
  if (!overlap(list[0], other)) return false;  // they may have room beside each other
  if (f->at.program->slots[from].form != f->at.program->slots[to].form) return false;
  for (const RegionAt& r : regions(plan)) {
    if (r.rank == f->at.rank && r.region->buffer == Buffer::scratch && r.region->slot == from) {
      r.region->slot = to;
    }
  }
  return true;
}

/// In place, a part of the input is sent in a later stage, which receives results to where it is.
bool clobber_input(Plan& plan, Random& random) {
  if (!plan.in_place) return false;
  const auto list = only(transfers(plan), [&](const TransferAt& t) {
    if (!t.is_send || t.transfer().region.buffer != Buffer::input) return false;
    if (t.at.index + 1 == t.at.program->stages.size()) return false;
    const bool scatters = plan.spec.collective == Collective::reduce_scatter;
    const std::uint64_t begin = scatters ? t.at.rank * plan.spec.stride : 0;
    const auto& later = t.at.program->stages[t.at.index + 1].receives;
    return std::any_of(later.begin(), later.end(), [&](const Transfer& r) {
      Region in_input = r.region;
      in_input.offset += begin;
      return r.region.buffer == Buffer::output && overlap(in_input, t.transfer().region);
    });
  });
  const auto t = any(list, random);
  if (!t) return false;
  auto& later = t->at.program->stages[t->at.index + 1].sends;
  later.insert(later.begin(), t->transfer());
  erase(t->list(), t->index);
  return true;
}

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
    {"off_by_one", off_by_one},     {"other_elements", other_elements}, {"wrong_slot", wrong_slot},
    {"wrong_buffer", wrong_buffer}, {"wrong_form", wrong_form},         {"retype_slot", retype_slot},
    {"share_slot", share_slot},     {"clobber_input", clobber_input},   {"other_order", other_order},
    {"other_block", other_block},   {"other_root", other_root},
};

}  // namespace

std::span<const Mutation> region_mutations() {
  return kMutations;
}

}  // namespace detccl::plan::testing
