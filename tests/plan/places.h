// SPDX-License-Identifier: Apache-2.0
// Where things are in a plan: lists of all stages, transfers, folds or regions, of which a mutation picks
// one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "mutations.h"

namespace detccl::plan::testing {

struct StageAt {
  std::uint32_t rank;
  std::size_t index;
  Program* program;
  Stage& stage() const { return program->stages[index]; }
};

inline std::vector<StageAt> stages(Plan& plan) {
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

inline std::vector<TransferAt> transfers(Plan& plan) {
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

inline std::vector<FoldAt> folds(Plan& plan) {
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

inline std::vector<RegionAt> regions(Plan& plan) {
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

inline bool overlap(const Region& a, const Region& b) {
  return a.offset < b.offset + b.count && b.offset < a.offset + a.count;
}

/// A new slot like the one at `like`.
inline Region fresh_slot(Program& program, const Region& like) {
  program.slots.push_back({like.count, like.form});
  return {0, like.count, static_cast<std::uint32_t>(program.slots.size() - 1), Buffer::scratch, like.form};
}

}  // namespace detccl::plan::testing
