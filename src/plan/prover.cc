// SPDX-License-Identifier: Apache-2.0
#include "plan/prover.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/prover/execution.h"
#include "plan/prover/flat_programs.h"
#include "plan/prover/pairing.h"
#include "plan/prover/rejection.h"

namespace detccl::plan {
namespace {

using prover::Rejection;

void check_spec(const Spec& spec) {
  if (const auto wrong = check(spec)) throw Rejection(std::string(*wrong));
}

/// `program_of(rank)`: rank's program.
template <class ProgramOf>
void prove_piece(const Spec& spec, bool in_place, const ProgramOf& program_of) {
  prover::FlatPrograms flat;
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank)
    flat.append(spec, program_of(rank));
  prover::execute(flat, prover::pair_transfers(flat), spec, in_place);
}

/// That several pieces together are `spec`: a reduce_scatter as reduces, one for each element of each output.
/// Their inputs must be apart too, so that in place no piece overwrites what another one reads.
void check_pieces(const Spec& spec, const std::vector<Piece>& list) {
  struct Part {
    std::uint64_t begin, end;
  };
  std::vector<std::vector<Part>> outputs(spec.ranks);
  for (const Piece& p : list) {
    if (p.spec.collective != Collective::reduce || p.spec.ranks != spec.ranks ||
        !(p.spec.contract == spec.contract) || p.spec.root >= spec.ranks) {
      throw Rejection("a piece of a reduce_scatter is a reduce over the same ranks by the same contract");
    }
    if (p.input_offset != p.spec.root * spec.stride + p.output_offset) {
      throw Rejection(
          fmt::format("the piece for rank {} reduces other elements than its output's", p.spec.root));
    }
    outputs[p.spec.root].push_back({p.output_offset, p.output_offset + p.spec.count});
  }
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) {
    std::vector<Part>& parts = outputs[rank];
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    std::uint64_t covered = 0;
    for (const Part& part : parts) {
      if (part.begin != covered) break;
      covered = part.end;
    }
    const bool once = covered == spec.count && (parts.empty() || parts.back().end == covered);
    if (!once) throw Rejection(fmt::format("rank {}: the pieces do not cover the output once", rank));
  }
}

template <class Steps>
Proof outcome(const Steps& steps) {
  try {
    steps();
  } catch (const Rejection& r) {
    return {false, r.what()};
  }
  return {true, {}};
}

}  // namespace

Proof prove(const Spec& spec, bool in_place) {
  return outcome([&] {
    check_spec(spec);
    const std::vector<Piece> list = pieces(spec);
    if (list.size() != 1 || !(list[0].spec.collective == spec.collective)) check_pieces(spec, list);
    for (const Piece& piece : list) {
      prove_piece(piece.spec, in_place, [&](std::uint32_t rank) { return build(piece.spec, rank); });
    }
  });
}

Proof prove(const Spec& spec, std::span<const Program> programs, bool in_place) {
  return outcome([&] {
    check_spec(spec);
    if (programs.size() != spec.ranks) throw Rejection("not one program per rank");
    prove_piece(spec, in_place, [&](std::uint32_t rank) -> const Program& { return programs[rank]; });
  });
}

}  // namespace detccl::plan
