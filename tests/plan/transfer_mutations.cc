// SPDX-License-Identifier: Apache-2.0
// Faults in transfers and stages.
#include "mutations.h"

#include <algorithm>
#include <utility>

#include "places.h"

namespace detccl::plan::testing {
namespace {

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

/// Transfers without partners, or outputs that are not written.
bool drop_stage(Plan& plan, Random& random) {
  const auto s = any(stages(plan), random);
  if (!s) return false;
  erase(s->program->stages, s->index);
  return true;
}

/// Each stage needs what the one before gave, from its own rank or, by way of others, from what it sent.
/// Except where a rank only gets something: in a reduce by halving, results that do not need its own sums; by
/// hier, what it passes on.
bool swap_stages(Plan& plan, Random& random) {
  const auto s = any(stages(plan), random);
  if (!s || s->index + 1 == s->program->stages.size()) return false;
  const Kind kind = plan.spec.schedule.kind;
  const Stage& next = s->program->stages[s->index + 1];
  const bool only_gets = next.sends.empty() && next.folds.empty();
  const bool reduce = plan.spec.collective == Collective::reduce;
  if (only_gets && (kind == Kind::hier || (kind == Kind::halving && reduce))) return false;
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
  for (int e = 0; e < 2; ++e) {
    if (t->at.index >= ends[e]->stages.size()) return false;
  }
  // Stages that are joined from several steps need not be partners of each other.
  const auto meet = [&](int from, int to) {
    const auto& sends = ends[from]->stages[t->at.index].sends;
    const auto& receives = ends[to]->stages[t->at.index].receives;
    return std::any_of(sends.begin(), sends.end(), [&](const Transfer& s) {
      return s.peer == other[from] && std::any_of(receives.begin(), receives.end(), [&](const Transfer& r) {
               return r.peer == other[to] && r.step == s.step;
             });
    });
  };
  if (!meet(0, 1) || !meet(1, 0)) return false;
  for (Program* end : ends) {
    Stage first;
    first.sends = std::exchange(end->stages[t->at.index].sends, {});
    end->stages.insert(end->stages.begin() + static_cast<std::ptrdiff_t>(t->at.index), first);
  }
  return true;
}

constexpr Mutation kMutations[] = {
    {"drop_transfer", drop_transfer}, {"repeat_transfer", repeat_transfer}, {"wrong_peer", wrong_peer},
    {"swap_peers", swap_peers},       {"reorder_pair", reorder_pair},       {"late_receive", late_receive},
    {"shorten_both", shorten_both},   {"drop_stage", drop_stage},           {"swap_stages", swap_stages},
    {"send_first", send_first},
};

}  // namespace

std::span<const Mutation> transfer_mutations() {
  return kMutations;
}

}  // namespace detccl::plan::testing
