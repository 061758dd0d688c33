// SPDX-License-Identifier: Apache-2.0
// ring (`linear` only): a chain. Rank 0 sends its raw input to rank 1; rank r folds what it receives with its
// own input and sends the partial on; rank n-1 has the result, which travels back along the chain, in
// all_reduce to rank 0, in reduce as far as the root. Chunks follow each other down the chain, so that a long
// message uses all links at once. P is the message in the accumulation type, S in the payload type.
//
//                stages  sent per rank  received  peers              scratch
//   all_reduce   2 or 3  P + S          P + S     2 (1 at the ends)  P (rank 1: P + S)
//   reduce       1 to 3  P + S          P + S     2 (1 at the ends)  P + S (rank 1: P + 2 S)
//
// reduce_scatter is a reduce per shard (pieces()). The first partial is a raw input, S long.
// With blocks of B two values travel inside a block: the earlier blocks' sum (P; after one block S) and the
// current block's (P); between blocks only the first does. Scratch then is at most 2 P + 3 S.
// Summation order: (…((x_0 + x_1) + x_2) …) + x_{n-1}; with blocks the same of a block's ranks, rounded, and
// of the rounded results.
#include <optional>
#include <utility>
#include <vector>

#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan::schedules {
namespace {

/// What goes from a rank to the next: each value as a form, or nothing.
struct Carried {
  std::optional<Form> earlier;  ///< sum of the finished blocks
  std::optional<Form> current;  ///< sum of the unfinished block (without blocks: of everything so far)
};

/// What ranks 0 … r-1 hand to rank r.
Carried carried_to(std::uint32_t r, std::uint32_t block) {
  const auto sum_of = [](std::uint32_t values, Form one) -> std::optional<Form> {
    if (values == 0) return std::nullopt;
    return values == 1 ? one : Form::partial;
  };
  if (block == 0) return {std::nullopt, sum_of(r, Form::raw)};
  return {sum_of(r / block, Form::rounded), sum_of(r % block, Form::raw)};
}

/// The values of Carried, as regions of one rank.
struct Held {
  std::optional<Region> earlier, current;
};

/// Rank `rank`'s folds: from what it received to what it sends on.
class Link {
 public:
  Link(Program& program, Stage& stage, const Spec& spec, std::uint32_t rank)
      : program_(program), stage_(stage), spec_(spec), rank_(rank) {}

  /// `result`: where the last rank puts the result; it sends nothing on.
  Held fold(const Held& received, const Region& result) {
    const std::uint32_t block = spec_.contract.block;
    const Region own = input(0, spec_.count);
    const bool last = rank_ + 1 == spec_.ranks;
    if (!last && (block == 0 || (rank_ + 1) % block != 0)) {
      return {received.earlier, add(received.current, own)};
    }
    if (block == 0) return {std::nullopt, add(received.current, own, result)};

    const Region rounded = add(received.current, own, scratch(program_, Form::rounded, spec_.count));
    return {last ? add(received.earlier, rounded, result) : add(received.earlier, rounded), std::nullopt};
  }

 private:
  /// sum + value -> place, which it returns.
  Region add(const std::optional<Region>& sum, const Region& value, const Region& place) {
    std::vector<Region> operands;
    if (sum) operands.push_back(*sum);
    operands.push_back(value);
    stage_.folds.push_back({std::move(operands), place});
    return place;
  }
  /// sum + value as a partial, in the sum's own place where that is a partial's.
  Region add(const std::optional<Region>& sum, const Region& value) {
    if (!sum) return value;
    const bool same = sum->form == Form::partial;
    return add(sum, value, same ? *sum : scratch(program_, Form::partial, spec_.count));
  }

  Program& program_;
  Stage& stage_;
  const Spec& spec_;
  std::uint32_t rank_;
};

void append(Program& program, Stage&& stage) {
  if (stage.sends.empty() && stage.receives.empty() && stage.folds.empty()) return;
  program.stages.push_back(std::move(stage));
}

}  // namespace

Program ring(const Spec& spec, std::uint32_t rank) {
  const std::uint32_t last = spec.ranks - 1;
  // Results go back from the last rank down to this one.
  const std::uint32_t back_to = spec.collective == Collective::reduce ? spec.root : 0;
  Program program;
  Region result;
  if (rank >= back_to) result = result_place(program, spec, rank);

  Stage down;
  const auto receive = [&](std::optional<Form> form) -> std::optional<Region> {
    if (!form) return std::nullopt;
    down.receives.push_back({scratch(program, *form, spec.count), rank - 1});
    return down.receives.back().region;
  };
  const Carried carried = carried_to(rank, spec.contract.block);
  Held held;
  held.earlier = receive(carried.earlier);
  held.current = receive(carried.current);
  held = Link(program, down, spec, rank).fold(held, result);
  append(program, std::move(down));

  if (rank < last) {
    Stage on;
    if (held.earlier) on.sends.push_back({*held.earlier, rank + 1});
    if (held.current) on.sends.push_back({*held.current, rank + 1});
    // In place, the result must not arrive where an input is being sent from.
    if (held.current && held.current->buffer == Buffer::input) append(program, std::exchange(on, {}));
    if (rank >= back_to) on.receives.push_back({result, rank + 1});
    append(program, std::move(on));
  }
  if (rank > back_to) append(program, {{{result, rank - 1}}, {}, {}});
  return program;
}

}  // namespace detccl::plan::schedules
