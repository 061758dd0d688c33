// SPDX-License-Identifier: Apache-2.0
#include "plan/prover/execution.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plan/prover/expressions.h"
#include "plan/prover/memory.h"
#include "plan/prover/rejection.h"

namespace detccl::plan::prover {
namespace {

class Execution {
 public:
  Execution(const FlatPrograms& flat, const Pairing& pairing, const Spec& spec, bool in_place)
      : flat_(flat),
        pairing_(pairing),
        order_(spec.contract.order),
        memory_(flat, spec, in_place),
        expressions_(spec.ranks),
        required_(expressions_.required(spec.contract)),
        current_(flat.first_stage.begin(), flat.first_stage.end() - 1),
        missing_(flat.stage_count()),
        sent_(flat.sends.region.size()) {
    for (std::uint32_t s = 0; s < flat.stage_count(); ++s) {
      const FlatStage &stage = flat.stages[s], &next = flat.stages[s + 1];
      missing_[s] = next.sends - stage.sends + next.receives - stage.receives + 1;
    }
  }

  void run() {
    for (std::uint32_t rank = 0; rank < flat_.ranks(); ++rank)
      begin_current(rank);
    while (!ready_.empty()) {
      const std::uint32_t stage = ready_.back();
      ready_.pop_back();
      at(stage, [&] { complete(stage); });
      const std::uint32_t rank = flat_.stages[stage].rank;
      ++current_[rank];
      begin_current(rank);
    }
    for (std::uint32_t rank = 0; rank < flat_.ranks(); ++rank) {
      if (current_[rank] != flat_.first_stage[rank + 1]) reject_deadlock(rank);
    }
    memory_.check_outputs();
  }

 private:
  /// Runs `step`, and says where if it is rejected.
  template <class Step>
  void at(std::uint32_t stage, const Step& step) const {
    try {
      step();
    } catch (const Rejection& r) {
      throw Rejection(fmt::format("{}: {}", flat_.where(stage), r.what()));
    }
  }

  void begin_current(std::uint32_t rank) {
    const std::uint32_t stage = current_[rank];
    if (stage == flat_.first_stage[rank + 1]) return;
    at(stage, [&] { begin(stage); });
  }

  void begin(std::uint32_t s) {
    const FlatStage &stage = flat_.stages[s], &next = flat_.stages[s + 1];
    for (std::uint32_t i = stage.sends; i < next.sends; ++i) {
      sent_[i] = memory_.read(stage.rank, flat_.sends.region[i]);
    }
    for (std::uint32_t i = stage.receives; i < next.receives; ++i) {
      memory_.expect(stage.rank, flat_.receives.region[i]);
    }
    // What is being sent must still be there now that the receives are posted.
    for (std::uint32_t i = stage.sends; stage.receives != next.receives && i < next.sends; ++i) {
      memory_.read(stage.rank, flat_.sends.region[i]);
    }
    for (std::uint32_t i = stage.sends; i < next.sends; ++i)
      release(pairing_.send_meets[i]);
    for (std::uint32_t i = stage.receives; i < next.receives; ++i)
      release(pairing_.receive_meets[i]);
    release(s);
  }

  /// One of the things that `stage` waits for has happened.
  void release(std::uint32_t stage) {
    if (--missing_[stage] == 0) ready_.push_back(stage);
  }

  void complete(std::uint32_t s) {
    const FlatStage &stage = flat_.stages[s], &next = flat_.stages[s + 1];
    for (std::uint32_t i = stage.receives; i < next.receives; ++i) {
      memory_.arrive(stage.rank, flat_.receives.region[i], sent_[pairing_.source[i]]);
    }
    for (std::uint32_t f = stage.folds; f < next.folds; ++f)
      fold(stage.rank, f);
  }

  void fold(std::uint32_t rank, std::uint32_t f) {
    operands_.clear();
    Value first;
    for (std::uint32_t o = flat_.folds[f].operands; o < flat_.folds[f + 1].operands; ++o) {
      const Value value = memory_.read(rank, flat_.operands[o]);
      if (operands_.empty()) first = value;
      if (value.span != first.span) throw Rejection("a fold of values of different elements");
      operands_.push_back(value.expression);
    }
    // In place, the output is where the same elements of the input are: an overlap there is exact.
    const Region& result = flat_.regions[flat_.folds[f].result];
    if (result.count != memory_.count(first)) {
      throw Rejection(
          fmt::format("fold to {}: its operands have {}", describe(result), memory_.count(first)));
    }
    check_overlap(f, result);
    Expression expression = expressions_.fold(order_, operands_);
    if (result.form == Form::rounded) expression = expressions_.rounded(expression);
    if (result.form == Form::final) {
      if (expression != required_) {
        throw Rejection(fmt::format("fold to {}: not what the contract wants", describe(result)));
      }
      expression = kResult;
    }
    memory_.write(rank, flat_.folds[f].result, {expression, first.span});
  }

  /// A result may take the place of an operand, but not overlap one otherwise.
  void check_overlap(std::uint32_t f, const Region& result) const {
    if (result.buffer != Buffer::scratch) return;
    for (std::uint32_t o = flat_.folds[f].operands; o < flat_.folds[f + 1].operands; ++o) {
      const Region& operand = flat_.regions[flat_.operands[o]];
      if (operand.buffer != Buffer::scratch || operand.slot != result.slot || operand == result) continue;
      const bool apart =
          operand.offset + operand.count <= result.offset || result.offset + result.count <= operand.offset;
      if (!apart) throw Rejection(fmt::format("fold to {}: overlaps an operand", describe(result)));
    }
  }

  /// `rank` cannot go on: follows who waits for whom until it comes round.
  [[noreturn]] void reject_deadlock(std::uint32_t rank) const {
    std::vector<std::uint8_t> seen(flat_.ranks(), 0);
    std::string chain;
    while (seen[rank] == 0) {
      seen[rank] = 1;
      if (chain.size() < 400) chain += fmt::format("{} waits for ", flat_.where(current_[rank]));
      rank = flat_.stages[blocker(current_[rank])].rank;
    }
    throw Rejection(fmt::format("deadlock: {}{}rank {}", chain, chain.size() < 400 ? "" : "… ", rank));
  }

  /// A stage that has not begun and that `s` waits for.
  std::uint32_t blocker(std::uint32_t s) const {
    const FlatStage &stage = flat_.stages[s], &next = flat_.stages[s + 1];
    const auto begun = [&](std::uint32_t other) { return other <= current_[flat_.stages[other].rank]; };
    for (std::uint32_t i = stage.sends; i < next.sends; ++i) {
      if (!begun(pairing_.send_meets[i])) return pairing_.send_meets[i];
    }
    for (std::uint32_t i = stage.receives; i < next.receives; ++i) {
      if (!begun(pairing_.receive_meets[i])) return pairing_.receive_meets[i];
    }
    return s;
  }

  const FlatPrograms& flat_;
  const Pairing& pairing_;
  const contract::Order order_;
  Memory memory_;
  Expressions expressions_;
  const Expression required_;
  std::vector<std::uint32_t> current_;  ///< by rank: the stage that has begun
  std::vector<std::uint32_t> missing_;  ///< by stage: how many stages, itself among them, have to begin
  std::vector<std::uint32_t> ready_;    ///< stages that can be completed
  std::vector<Value> sent_;             ///< by send
  std::vector<Expression> operands_;    ///< of the fold at hand
};

}  // namespace

void execute(const FlatPrograms& flat, const Pairing& pairing, const Spec& spec, bool in_place) {
  Execution(flat, pairing, spec, in_place).run();
}

}  // namespace detccl::plan::prover
