// SPDX-License-Identifier: Apache-2.0
// tree (`tree` only): the contract's own tree. Node T(lo,hi), which splits at m, belongs to rank m: every
// rank but 0 owns exactly one node, and its own input is the leftmost leaf of the node's right half. Values
// go up to the owners (raw inputs from single ranks, partials from nodes); in all_reduce the results come
// back down the same edges, in reduce the top node's owner sends it to the root. Chunks follow each other up
// and down. P is the message in the accumulation type, S in the payload type; per rank, whatever n is, at
// most:
//
//                stages  steps end to end   sent     received  peers  scratch
//   all_reduce   3       2 ceil(log2 n)     P + 3 S  2 P + S   4      2 P + S
//   reduce       3       ceil(log2 n) + 1   P + S    2 P + S   5      2 P + S
//
// reduce_scatter is a reduce per shard (pieces()). With blocks of B, a node that covers a block rounds its
// result to the payload type and takes S of scratch more.
// Summation order: T(0,n), node by node, left then right.
#include <algorithm>
#include <utility>

#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan::schedules {
namespace {

/// Ranks lo … hi-1: a leaf if there is only one.
struct Node {
  std::uint32_t lo = 0, hi = 0;

  bool leaf() const { return hi - lo == 1; }
  /// The rank that has the node's value: a leaf's own rank, else the first rank of the right half.
  std::uint32_t owner() const { return leaf() ? lo : lo + contract::tree_split(hi - lo); }
  Node left() const { return {lo, owner()}; }
  Node right() const { return {owner(), hi}; }
};

struct Seat {
  Node node;
  std::uint32_t parent = 0;  ///< owner of the node above; the own rank at the top
};

/// The node that `rank`, which is not 0, owns.
Seat find_seat(std::uint32_t rank, std::uint32_t ranks) {
  Seat seat{{0, ranks}, rank};
  while (seat.node.owner() != rank) {
    seat.parent = seat.node.owner();
    seat.node = rank < seat.parent ? seat.node.left() : seat.node.right();
  }
  return seat;
}

bool covers_block(const Spec& spec, const Node& node) {
  const std::uint32_t block = spec.contract.block;
  return block != 0 && node.lo % block == 0 &&
         node.hi == std::min<std::uint64_t>(node.lo + block, spec.ranks);
}

/// Gets the value of a child that is not the rank's own input.
Region receive_child(Program& program, Stage& stage, const Spec& spec, const Node& child) {
  Form form = child.leaf() ? Form::raw : Form::partial;
  if (covers_block(spec, child)) form = Form::rounded;
  stage.receives.push_back({scratch(program, form, spec.count), child.owner()});
  return stage.receives.back().region;
}

/// The own input as the right child. A last block of one rank is rounded like any other.
Region own_child(Program& program, Stage& stage, const Spec& spec, const Node& child) {
  const Region own = input(0, spec.count);
  if (!covers_block(spec, child)) return own;
  const Region rounded = scratch(program, Form::rounded, spec.count);
  stage.folds.push_back({{own}, rounded});
  return rounded;
}

/// left + right, which goes to `result` at the top; returns where it is.
Region fold_node(Program& program, Stage& stage, const Spec& spec, const Node& node, const Region& left,
                 const Region& right, const Region* result) {
  if (covers_block(spec, node)) {
    const Region rounded = scratch(program, Form::rounded, spec.count);
    stage.folds.push_back({{left, right}, rounded});
    if (result == nullptr) return rounded;
    stage.folds.push_back({{rounded}, *result});
    return *result;
  }
  Region place = left;  // a partial may take the place of one
  if (result != nullptr) {
    place = *result;
  } else if (left.form != Form::partial) {
    place = scratch(program, Form::partial, spec.count);
  }
  stage.folds.push_back({{left, right}, place});
  return place;
}

void append(Program& program, Stage&& stage) {
  if (stage.sends.empty() && stage.receives.empty()) return;
  program.stages.push_back(std::move(stage));
}

/// Rank 0 owns no node: the pair (0,1) belongs to rank 1.
Program first_rank(const Spec& spec) {
  Program program;
  program.stages.push_back({{{input(0, spec.count), 1}}, {}, {}});
  if (has_output(spec, 0)) {
    const std::uint32_t source = spec.collective == Collective::reduce ? Node{0, spec.ranks}.owner() : 1;
    program.stages.push_back({{}, {{output(0, spec.count), source}}, {}});
  }
  return program;
}

}  // namespace

Program tree(const Spec& spec, std::uint32_t rank) {
  if (rank == 0) return first_rank(spec);
  const Seat seat = find_seat(rank, spec.ranks);
  const Node left = seat.node.left(), right = seat.node.right();
  const bool top = seat.parent == rank, all = spec.collective == Collective::all_reduce;
  Program program;
  Region result;
  if (top || has_output(spec, rank)) result = result_place(program, spec, rank);

  Stage up;
  const Region left_value = receive_child(program, up, spec, left);
  const Region right_value =
      right.leaf() ? own_child(program, up, spec, right) : receive_child(program, up, spec, right);
  // The own input is this node's right child, or it belongs to the pair (rank, rank+1) further down.
  if (!right.leaf()) up.sends.push_back({input(0, spec.count), rank + 1});
  const Region value =
      fold_node(program, up, spec, seat.node, left_value, right_value, top ? &result : nullptr);
  append(program, std::move(up));

  Stage turn;
  if (!top) {
    turn.sends.push_back({value, seat.parent});
    if (has_output(spec, rank)) {
      turn.receives.push_back({result, all ? seat.parent : Node{0, spec.ranks}.owner()});
    }
  } else if (!all && rank != spec.root) {
    turn.sends.push_back({result, spec.root});
  }
  append(program, std::move(turn));

  Stage down;
  if (all) {
    // A single rank on the left gets its result from its own node's parent; only rank 0 has none.
    if (!left.leaf() || left.lo == 0) down.sends.push_back({result, left.owner()});
    if (!right.leaf()) down.sends.push_back({result, right.owner()});
  }
  append(program, std::move(down));
  return program;
}

}  // namespace detccl::plan::schedules
