// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <array>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan {
namespace {

constexpr std::array<std::string_view, 3> kCollectives = {"all_reduce", "reduce_scatter", "reduce"};
constexpr std::array<std::string_view, 4> kSchedules = {"gather", "direct", "ring", "tree"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// ring and tree carry one message; a reduce_scatter has a shard per rank.
bool in_one_piece(const Spec& spec) {
  return spec.collective != Collective::reduce_scatter || spec.schedule == Schedule::gather ||
         spec.schedule == Schedule::direct;
}

/// One rank: nothing to exchange, whatever the schedule.
Program single_rank(const Spec& spec) {
  Program program;
  program.stages.push_back({{}, {}, {{{schedules::input(0, spec.count)}, schedules::output(0, spec.count)}}});
  return program;
}

}  // namespace

bool supports(Schedule schedule, const contract::Contract& contract) {
  if (schedule == Schedule::ring) return contract.order == contract::Order::linear;
  if (schedule == Schedule::tree) return contract.order == contract::Order::tree;
  return true;
}

std::optional<std::string_view> check(const Spec& spec) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;  // elements of an input: no sum below overflows
  if (spec.ranks == 0) return "a communicator has at least one rank";
  if (spec.ranks > std::uint32_t{1} << 31) return "more than 2^31 ranks";
  if (spec.collective == Collective::reduce && spec.root >= spec.ranks) return "the root is not a rank";
  if (spec.count > kMost) return "more than 2^60 elements";
  if (spec.collective == Collective::reduce_scatter) {
    if (spec.stride < spec.count) return "shards overlap: the stride is less than the count";
    if (spec.stride > kMost / spec.ranks) return "more than 2^60 elements";
  }
  if (spec.contract.block != 0) {
    if (spec.contract.block < 2 || !std::has_single_bit(spec.contract.block)) {
      return "the contract's block is not a power of two from 2";
    }
    if (spec.contract.accumulate != contract::Accumulate::wide) return "a native contract has no blocks";
  }
  if (!supports(spec.schedule, spec.contract)) {
    return spec.schedule == Schedule::ring ? "schedule ring needs a linear contract"
                                           : "schedule tree needs a tree contract";
  }
  return std::nullopt;
}

std::vector<Piece> pieces(const Spec& spec) {
  if (in_one_piece(spec)) return {{spec, 0, 0}};
  std::vector<Piece> list;
  list.reserve(spec.ranks);
  for (std::uint32_t shard = 0; shard < spec.ranks; ++shard) {
    Spec piece = spec;
    piece.collective = Collective::reduce;
    piece.root = shard;
    piece.stride = 0;
    list.push_back({piece, shard * spec.stride, 0});
  }
  return list;
}

Program build(const Spec& spec, std::uint32_t rank) {
  if (const auto wrong = check(spec)) throw std::invalid_argument(std::string(*wrong));
  if (rank >= spec.ranks) throw std::invalid_argument("no such rank");
  if (!in_one_piece(spec)) throw std::invalid_argument("a reduce_scatter by ring or tree has several pieces");
  if (spec.count == 0) return {};
  if (spec.ranks == 1) return single_rank(spec);
  switch (spec.schedule) {
    case Schedule::gather:
      return schedules::gather(spec, rank);
    case Schedule::direct:
      return schedules::direct(spec, rank);
    case Schedule::ring:
      return schedules::ring(spec, rank);
    case Schedule::tree:
      return schedules::tree(spec, rank);
  }
  throw std::invalid_argument("no such schedule");
}

std::string_view name(Collective c) {
  return kCollectives.at(static_cast<std::size_t>(c));
}

std::string_view name(Schedule s) {
  return kSchedules.at(static_cast<std::size_t>(s));
}

std::optional<Collective> parse_collective(std::string_view text) {
  return find<Collective>(kCollectives, text);
}

std::optional<Schedule> parse_schedule(std::string_view text) {
  return find<Schedule>(kSchedules, text);
}

}  // namespace detccl::plan
