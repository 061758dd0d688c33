// SPDX-License-Identifier: Apache-2.0
// Plans as plain data. A Spec says what is to be reduced; build() gives one rank's Program: stages, each a
// set of transfers that run at the same time, followed by ordered folds. Programs know nothing of element
// types, operations or pointers; the prover (plan/prover.h) executes them symbolically (docs/plans.md).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.h"

namespace detccl::plan {

enum class Collective : std::uint8_t { all_reduce, reduce_scatter, reduce };

enum class Kind : std::uint8_t {
  gather,   ///< everyone gets all raw inputs and folds locally
  direct,   ///< all-to-all of raw shards, ordered fold at the owner, all-gather of results
  ring,     ///< chain 0 -> n-1 of partials, results back along the chain; `linear` only
  tree,     ///< canonical binary tree of partials, up and down; `tree` only
  halving,  ///< recursive halving by rank distance 1, 2, 4 …, then back; or in longer strides; `tree` only
  hier,     ///< `inner` within aligned groups of ranks, `outer` between them, rank i with rank i; `tree` only
};

struct Schedule {
  Kind kind = Kind::direct;
  Kind inner = Kind::direct, outer = Kind::direct;  ///< hier: direct or halving
  /// hier: ranks of a group, a power of two; 0: still to be filled in with those of an NVLink domain.
  std::uint32_t group = 0;
  /// halving, also as a part of hier: so many blocks become one in a level, at most; a power of two. More of
  /// them are fewer steps, and more peers.
  std::uint32_t radix = 2;

  static const Schedule gather, direct, ring, tree, halving;

  friend auto operator<=>(const Schedule&, const Schedule&) = default;
};

inline constexpr Schedule Schedule::gather{Kind::gather};
inline constexpr Schedule Schedule::direct{Kind::direct};
inline constexpr Schedule Schedule::ring{Kind::ring};
inline constexpr Schedule Schedule::tree{Kind::tree};
inline constexpr Schedule Schedule::halving{Kind::halving};

constexpr Schedule hier(Kind inner, Kind outer, std::uint32_t group, std::uint32_t radix = 2) {
  return {Kind::hier, inner, outer, group, radix};
}

constexpr Schedule halving_by(std::uint32_t radix) {
  return {Kind::halving, Kind::direct, Kind::direct, 0, radix};
}

/// What the elements of a region are. Payload-sized except `partial`, which has the accumulation type.
enum class Form : std::uint8_t {
  raw,      ///< a rank's own value; PreMulSum's scale is applied when it is folded
  partial,  ///< an unfinished sum, not rounded to the payload type
  rounded,  ///< a block's result, rounded to the payload type, not divided by avg's n
  final,    ///< the result
};

enum class Buffer : std::uint8_t { input, output, scratch };

/// `count` elements from element `offset` on. In input and output relative to the base that the engine gives
/// the program (a chunk's start); those elements are raw in the input and final in the output. In scratch
/// relative to the start of slot `slot`.
struct Region {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  std::uint32_t slot = 0;
  Buffer buffer = Buffer::input;
  Form form = Form::raw;

  friend bool operator==(const Region&, const Region&) = default;
};

/// A send or a receive. Between two ranks the k-th send of one pairs with the k-th receive of the other.
struct Transfer {
  Region region;
  std::uint32_t peer = 0;
  std::uint32_t step = 0;  ///< where ranks go in step (see steps()): when, the same at both ends
};

/// result = the operands combined in the contract's order, each a subtree (tree) or the next values (linear).
/// A fold to `rounded` ends a block; one to `final` ends the reduction (avg's division, then the rounding).
/// One raw operand to `final` is the one-rank case: a copy, or PreMulSum's scaling.
struct Fold {
  std::vector<Region> operands;
  Region result;
};

/// First all transfers, concurrently; when they are complete, the folds one after the other.
struct Stage {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::vector<Fold> folds;
};

/// A scratch slot: room for `elements` of form `form`. Slots never overlap.
struct Slot {
  std::uint64_t elements = 0;
  Form form = Form::raw;
};

/// What one rank does.
struct Program {
  std::vector<Slot> slots;
  std::vector<Stage> stages;
};

struct Spec {
  Collective collective = Collective::all_reduce;
  Schedule schedule;
  contract::Contract contract;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;    ///< reduce only
  std::uint64_t count = 0;   ///< elements of the message; reduce_scatter: of one rank's shard
  std::uint64_t stride = 0;  ///< reduce_scatter: elements between two shards' starts in the input, >= count
};

/// A part of a collective that runs as a program of its own. Pieces write disjoint parts of the outputs and
/// may run at the same time, started in the order of the list on every rank.
struct Piece {
  Spec spec;
  std::uint64_t input_offset = 0;   ///< where the piece's input starts, in elements from the collective's
  std::uint64_t output_offset = 0;  ///< likewise for the output (only where the piece has an output)
};

/// In how many steps all ranks carry out a plan. Every transfer is in one; what a stage folds is there in the
/// step after those of its transfers.
struct Steps {
  std::uint32_t folding = 0;  ///< the first so many may have folds
  std::uint32_t moving = 0;   ///< then so many only move results
};

/// Of a valid spec that is one piece. Nothing: ranks do not go in step (ring and tree, where each waits for
/// its neighbours).
std::optional<Steps> steps(const Spec& spec);

/// Whether the schedule can carry out the contract: ring needs `linear`; tree, halving and hier need `tree`.
bool supports(Schedule schedule, const contract::Contract& contract);

/// The pieces of `spec`. One, equal to it, except reduce_scatter by ring or tree: a reduce per shard.
std::vector<Piece> pieces(const Spec& spec);

/// Rank `rank`'s program. A pure function, in time and memory proportional to the program.
/// Throws std::invalid_argument where the spec is not one (see check()), or `pieces` has to be asked first.
Program build(const Spec& spec, std::uint32_t rank);

/// Why `spec` is no valid one, or nothing.
std::optional<std::string_view> check(const Spec& spec);

std::string_view name(Collective c);  ///< "all_reduce" …
std::string name(const Schedule& s);  ///< "gather", "halving:8", "hier(direct,halving:8)/8" …
std::optional<Collective> parse_collective(std::string_view text);
/// The group of a hier may be missing: "hier(direct,halving)".
std::optional<Schedule> parse_schedule(std::string_view text);
inline constexpr std::string_view kScheduleNames = "gather|direct|ring|tree|halving";
/// With those that have parts, for people.
inline constexpr std::string_view kScheduleSyntax =
    "gather|direct|ring|tree|halving[:R]|hier(A,B)/G, A and B direct or halving[:R], G and R powers of two";

}  // namespace detccl::plan
