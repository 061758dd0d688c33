// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace detccl::plan::testing {
namespace {

using Number = std::uint64_t;
using Numbers = std::vector<Number>;

Number mix(Number a, Number b) {
  const Number x = (a ^ (b << 7 | b >> 57)) * 0xd6e8feb86659fd93u + 3 * b + 1;
  return x ^ x >> 32;
}

Number leaf(std::uint64_t rank, std::uint64_t element) {
  return mix(mix(rank, 101), element);
}

Number sum(contract::Order order, const Numbers& values) {
  if (values.size() == 1) return values[0];
  std::size_t left = values.size() - 1;
  if (order == contract::Order::tree) {
    for (left = 1; left * 2 < values.size();)
      left *= 2;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(left);
  return mix(sum(order, {values.begin(), middle}), sum(order, {middle, values.end()}));
}

Number finish(Form form, Number value) {
  if (form == Form::rounded) return mix(value, 202);
  return form == Form::final ? mix(value, 303) : value;
}

Number expected(const Spec& spec, std::uint64_t element) {
  Numbers values;
  for (std::uint32_t r = 0; r < spec.ranks; ++r)
    values.push_back(leaf(r, element));
  if (spec.contract.block != 0 && spec.ranks > 1) {
    Numbers blocks;
    for (std::uint32_t lo = 0; lo < spec.ranks; lo += spec.contract.block) {
      const std::uint32_t hi = std::min(lo + spec.contract.block, spec.ranks);
      blocks.push_back(
          finish(Form::rounded, sum(spec.contract.order, {values.begin() + lo, values.begin() + hi})));
    }
    values = blocks;
  }
  return finish(Form::final, sum(spec.contract.order, values));
}

/// One rank: its memory and where it is in its program.
struct Rank {
  const Program* program = nullptr;
  Numbers input, output;
  std::vector<Numbers> slots;
  Number* result = nullptr;  ///< the output: `output`, or a place in `input`
  std::size_t stage = 0, open = 0;

  Number* at(const Region& r) {
    if (r.buffer == Buffer::input) return input.data() + r.offset;
    return r.buffer == Buffer::output ? result + r.offset : slots.at(r.slot).data() + r.offset;
  }
  bool done() const { return stage == program->stages.size(); }
};

/// Posted transfers from one rank to another.
struct Lane {
  std::deque<Region> sends, receives;
};

class Interpreter {
 public:
  Interpreter(const Spec& spec, std::span<const Program> programs, bool in_place, Random& random)
      : spec_(spec), random_(random), ranks_(spec.ranks) {
    const bool scatter = spec.collective == Collective::reduce_scatter;
    const std::uint64_t elements = scatter ? spec.stride * spec.ranks : spec.count;
    for (std::uint32_t r = 0; r < spec.ranks; ++r) {
      Rank& rank = ranks_[r];
      rank.program = &programs[r];
      for (std::uint64_t e = 0; e < elements; ++e)
        rank.input.push_back(leaf(r, e));
      rank.output.resize(spec.count, 0);
      for (const Slot& slot : rank.program->slots)
        rank.slots.emplace_back(slot.elements, random());
      const bool aliased = in_place && (spec.collective != Collective::reduce || r == spec.root);
      rank.result = aliased ? rank.input.data() + begin(r) : rank.output.data();
    }
  }

  std::string run() {
    for (std::uint32_t r = 0; r < spec_.ranks; ++r)
      post(r);
    while (transfer_one()) {
    }
    for (std::uint32_t r = 0; r < spec_.ranks; ++r) {
      if (!ranks_[r].done()) return fmt::format("rank {} is stuck in stage {}", r, ranks_[r].stage);
    }
    return compare();
  }

 private:
  /// Where the output's elements are in the message.
  std::uint64_t begin(std::uint32_t rank) const {
    return spec_.collective == Collective::reduce_scatter ? rank * spec_.stride : 0;
  }

  /// Posts the transfers of the rank's stage; goes on while there are none.
  void post(std::uint32_t r) {
    Rank& rank = ranks_[r];
    for (; !rank.done(); ++rank.stage) {
      const Stage& stage = rank.program->stages[rank.stage];
      for (const Transfer& t : stage.sends)
        lanes_[{r, t.peer}].sends.push_back(t.region);
      for (const Transfer& t : stage.receives)
        lanes_[{t.peer, r}].receives.push_back(t.region);
      rank.open = stage.sends.size() + stage.receives.size();
      if (rank.open != 0) return;
      fold(rank, stage);
    }
  }

  void close(std::uint32_t r) {
    Rank& rank = ranks_[r];
    if (--rank.open != 0) return;
    fold(rank, rank.program->stages[rank.stage]);
    ++rank.stage;
    post(r);
  }

  /// Carries out any transfer that both sides have posted.
  bool transfer_one() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> able;
    for (const auto& [ends, lane] : lanes_) {
      if (!lane.sends.empty() && !lane.receives.empty()) able.push_back(ends);
    }
    if (able.empty()) return false;
    const auto ends = able[pick_index(random_, able.size())];
    Lane& lane = lanes_[ends];
    const Region from = lane.sends.front(), to = lane.receives.front();
    lane.sends.pop_front();
    lane.receives.pop_front();
    std::copy_n(ranks_[ends.first].at(from), from.count, ranks_[ends.second].at(to));
    close(ends.first);
    close(ends.second);
    return true;
  }

  void fold(Rank& rank, const Stage& stage) const {
    for (const Fold& f : stage.folds) {
      for (std::uint64_t e = 0; e < f.result.count; ++e) {
        Numbers values;
        for (const Region& operand : f.operands)
          values.push_back(rank.at(operand)[e]);
        rank.at(f.result)[e] = finish(f.result.form, sum(spec_.contract.order, values));
      }
    }
  }

  std::string compare() {
    for (std::uint32_t r = 0; r < spec_.ranks; ++r) {
      Rank& rank = ranks_[r];
      const bool has_output = spec_.collective != Collective::reduce || r == spec_.root;
      for (std::uint64_t e = 0; e < spec_.count; ++e) {
        const Number wanted = has_output ? expected(spec_, begin(r) + e) : 0;
        if (rank.result[e] != wanted) return fmt::format("rank {}: output element {} is wrong", r, e);
      }
      for (std::uint64_t e = 0; e < rank.input.size(); ++e) {
        const Number* place = rank.input.data() + e;
        const bool is_output = place >= rank.result && place < rank.result + spec_.count;
        if (!is_output && *place != leaf(r, e)) return fmt::format("rank {}: input element {} changed", r, e);
      }
    }
    return {};
  }

  const Spec& spec_;
  Random& random_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> lanes_;
};

}  // namespace

std::string interpret(const Spec& spec, std::span<const Program> programs, bool in_place, Random& random) {
  return Interpreter(spec, programs, in_place, random).run();
}

}  // namespace detccl::plan::testing
