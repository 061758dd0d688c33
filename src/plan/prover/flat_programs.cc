// SPDX-License-Identifier: Apache-2.0
#include "plan/prover/flat_programs.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "plan/prover/rejection.h"

namespace detccl::plan::prover {
namespace {

std::string_view name(Form form) {
  static constexpr std::array<std::string_view, 4> kNames = {"raw", "partial", "rounded", "final"};
  return static_cast<std::size_t>(form) < kNames.size() ? kNames[static_cast<std::size_t>(form)] : "no form";
}

/// Whether [offset, offset + count) is within [0, size).
bool within(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
  return offset <= size && count <= size - offset;
}

/// Whether these elements of the input are ones that the collective reduces.
bool within_input(const Spec& spec, std::uint64_t offset, std::uint64_t count) {
  if (spec.collective != Collective::reduce_scatter) return within(offset, count, spec.count);
  if (spec.stride == spec.count) return within(offset, count, spec.count * spec.ranks);
  return offset / spec.stride < spec.ranks && within(offset % spec.stride, count, spec.count);
}

}  // namespace

std::string describe(const Region& r) {
  if (r.buffer == Buffer::scratch) {
    const std::string from = r.offset != 0 ? fmt::format(" from {}", r.offset) : "";
    return fmt::format("{} elements of slot {}{} ({})", r.count, r.slot, from, name(r.form));
  }
  return fmt::format("{} elements of {} from {} ({})", r.count,
                     r.buffer == Buffer::input ? "input" : "output", r.offset, name(r.form));
}

std::string FlatPrograms::where(std::uint32_t stage) const {
  const std::uint32_t rank = stages[stage].rank;
  return fmt::format("rank {}, stage {}", rank, stage - first_stage[rank]);
}

/// One rank's program on its way into the arrays.
class FlatPrograms::Appender {
 public:
  Appender(FlatPrograms& flat, const Spec& spec, const Program& program)
      : flat_(flat), spec_(spec), program_(program), rank_(flat.ranks()) {}

  void append(const Stage& stage) {
    flat_.stages.back().rank = rank_;
    for (const Transfer& t : stage.sends)
      add(flat_.sends, t, "send to", false);
    for (const Transfer& t : stage.receives)
      add(flat_.receives, t, "receive from", true);
    for (const Fold& fold : stage.folds)
      add(fold);
    flat_.stages.push_back({0, size(flat_.sends.peer), size(flat_.receives.peer), size(flat_.folds) - 1});
    ++stage_;
  }

 private:
  template <class T>
  std::uint32_t size(const std::vector<T>& list) const {
    if (list.size() >= 0xfffffffeu) throw Rejection("the plan has too many transfers for a proof");
    return static_cast<std::uint32_t>(list.size());
  }

  void add(FlatTransfers& list, const Transfer& t, std::string_view what, bool write) {
    if (t.peer >= spec_.ranks || t.peer == rank_) reject(fmt::format("{} {}: no such peer", what, t.peer));
    if (const char* wrong = fault(t.region, write)) {
      reject(fmt::format("{} {}: {}: {}", what, t.peer, describe(t.region), wrong));
    }
    list.region.push_back(flat_.regions(t.region));
    list.peer.push_back(t.peer);
  }

  void add(const Fold& fold) {
    if (fold.operands.empty()) reject("a fold without operands");
    for (const Region& operand : fold.operands) {
      const char* wrong = operand.form == Form::final ? "a result cannot be folded" : fault(operand, false);
      if (wrong != nullptr) reject(fmt::format("fold of {}: {}", describe(operand), wrong));
      flat_.operands.push_back(flat_.regions(operand));
    }
    const char* wrong =
        fold.result.form == Form::raw ? "no fold gives a raw value" : fault(fold.result, true);
    if (wrong != nullptr) reject(fmt::format("fold to {}: {}", describe(fold.result), wrong));
    flat_.folds.back().result = flat_.regions(fold.result);
    flat_.folds.push_back({size(flat_.operands), 0});
  }

  /// What is wrong with a region of this rank, or nothing.
  const char* fault(const Region& r, bool write) const {
    if (r.count == 0) return "an empty region";
    switch (r.buffer) {
      case Buffer::input:
        if (write) return "the input is written";
        if (r.form != Form::raw) return "the input is raw";
        return within_input(spec_, r.offset, r.count) ? nullptr : "outside the input";
      case Buffer::output:
        if (spec_.collective == Collective::reduce && rank_ != spec_.root)
          return "only the root has an output";
        if (r.form != Form::final) return "the output has results only";
        return within(r.offset, r.count, spec_.count) ? nullptr : "outside the output";
      case Buffer::scratch:
        if (r.slot >= program_.slots.size()) return "no such slot";
        if (r.form != program_.slots[r.slot].form) return "the slot has another form";
        return within(r.offset, r.count, program_.slots[r.slot].elements) ? nullptr : "larger than the slot";
    }
    return "no such buffer";
  }

  [[noreturn]] void reject(const std::string& what) const {
    throw Rejection(fmt::format("rank {}, stage {}: {}", rank_, stage_, what));
  }

  FlatPrograms& flat_;
  const Spec& spec_;
  const Program& program_;
  std::uint32_t rank_, stage_ = 0;
};

void FlatPrograms::append(const Spec& spec, const Program& program) {
  Appender appender(*this, spec, program);
  for (const Stage& stage : program.stages)
    appender.append(stage);
  first_stage.push_back(stage_count());
  first_slot.push_back(first_slot.back() + static_cast<std::uint32_t>(program.slots.size()));
}

}  // namespace detccl::plan::prover
