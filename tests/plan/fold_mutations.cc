// SPDX-License-Identifier: Apache-2.0
// Faults in folds.
#include "mutations.h"

#include <algorithm>

#include "places.h"

namespace detccl::plan::testing {
namespace {

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

constexpr Mutation kMutations[] = {
    {"swap_operands", swap_operands},   {"drop_operand", drop_operand},
    {"repeat_operand", repeat_operand}, {"drop_fold", drop_fold},
    {"reassociate", reassociate},       {"fold_elsewhere", fold_elsewhere},
    {"late_fold", late_fold},           {"clobber_operand", clobber_operand},
};

}  // namespace

std::span<const Mutation> fold_mutations() {
  return kMutations;
}

}  // namespace detccl::plan::testing
