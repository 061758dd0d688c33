// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

#include "plan/schedules/levels.h"
#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan {
namespace {

constexpr std::array<std::string_view, 3> kCollectives = {"all_reduce", "reduce_scatter", "reduce"};
constexpr std::array<std::string_view, 6> kKinds = {"gather", "direct", "ring", "tree", "halving", "hier"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// ring and tree carry one message; a reduce_scatter has a shard per rank.
bool in_one_piece(const Spec& spec) {
  const Kind kind = spec.schedule.kind;
  return spec.collective != Collective::reduce_scatter || (kind != Kind::ring && kind != Kind::tree);
}

/// What hier can be made of.
bool is_part(Kind kind) {
  return kind == Kind::direct || kind == Kind::halving;
}

/// One rank: nothing to exchange, whatever the schedule.
Program single_rank(const Spec& spec) {
  Program program;
  program.stages.push_back({{}, {}, {{{schedules::input(0, spec.count)}, schedules::output(0, spec.count)}}});
  return program;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

bool take_power(std::string_view& text, std::uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() && std::has_single_bit(value);
}

/// "direct", "halving", "halving:8"
bool take_part(std::string_view& text, Kind& kind, std::uint32_t& radix) {
  radix = 2;
  kind = Kind::direct;
  if (take(text, "direct")) return true;
  kind = Kind::halving;
  if (!take(text, "halving")) return false;
  return !take(text, ":") || (take_power(text, radix) && radix >= 2);
}

}  // namespace

bool supports(Schedule schedule, const contract::Contract& contract) {
  switch (schedule.kind) {
    case Kind::gather:
    case Kind::direct:
      return true;
    case Kind::ring:
      return contract.order == contract::Order::linear;
    case Kind::tree:
    case Kind::halving:
    case Kind::hier:
      break;
  }
  return contract.order == contract::Order::tree;
}

std::optional<Steps> steps(const Spec& spec) {
  const bool scatters = spec.collective == Collective::reduce_scatter;
  if (spec.ranks == 1 || spec.schedule.kind == Kind::gather) return Steps{1, 0};
  if (spec.schedule.kind == Kind::direct) return Steps{1, scatters ? 0u : 1u};
  if (spec.schedule.kind != Kind::halving && spec.schedule.kind != Kind::hier) return std::nullopt;
  const schedules::Levels levels(spec);
  const auto folding = static_cast<std::uint32_t>(levels.count() + (levels.relayed() != 0 ? 1 : 0));
  return Steps{folding, scatters ? 1 : folding};
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
  if (spec.schedule.kind == Kind::hier) {
    if (!is_part(spec.schedule.inner) || !is_part(spec.schedule.outer)) {
      return "schedule hier is made of direct and halving";
    }
    if (!std::has_single_bit(spec.schedule.group))
      return "schedule hier needs groups of a power of two ranks";
  }
  if (!std::has_single_bit(spec.schedule.radix) || spec.schedule.radix < 2)
    return "schedule halving needs a radix of a power of two from 2";
  if (!supports(spec.schedule, spec.contract)) {
    if (spec.schedule.kind == Kind::ring) return "schedule ring needs a linear contract";
    return "schedules tree, halving and hier need a tree contract";
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
  switch (spec.schedule.kind) {
    case Kind::gather:
      return schedules::gather(spec, rank);
    case Kind::direct:
      return schedules::direct(spec, rank);
    case Kind::ring:
      return schedules::ring(spec, rank);
    case Kind::tree:
      return schedules::tree(spec, rank);
    case Kind::halving:
    case Kind::hier:
      return schedules::halving(spec, rank);
  }
  throw std::invalid_argument("no such schedule");
}

std::string_view name(Collective c) {
  return kCollectives.at(static_cast<std::size_t>(c));
}

std::string name(const Schedule& s) {
  const auto text = [&s](Kind kind) {
    std::string part(kKinds.at(static_cast<std::size_t>(kind)));
    if (kind == Kind::halving && s.radix != 2) part += ":" + std::to_string(s.radix);
    return part;
  };
  if (s.kind != Kind::hier) return text(s.kind);
  std::string all = "hier(" + text(s.inner) + "," + text(s.outer) + ")";
  if (s.group != 0) all += "/" + std::to_string(s.group);
  return all;
}

std::optional<Collective> parse_collective(std::string_view text) {
  return find<Collective>(kCollectives, text);
}

std::optional<Schedule> parse_schedule(std::string_view text) {
  for (const Kind whole : {Kind::gather, Kind::direct, Kind::ring, Kind::tree}) {
    if (text == name(Schedule{whole})) return Schedule{whole};
  }
  Schedule schedule;
  if (text.starts_with("hier(")) {
    text.remove_prefix(5);
    schedule.kind = Kind::hier;
    std::uint32_t outer_radix = 0;
    if (!take_part(text, schedule.inner, schedule.radix) || !take(text, ",") ||
        !take_part(text, schedule.outer, outer_radix) || !take(text, ")"))
      return std::nullopt;
    const bool inner_halves = schedule.inner == Kind::halving, outer_halves = schedule.outer == Kind::halving;
    if (inner_halves && outer_halves && schedule.radix != outer_radix) return std::nullopt;
    if (outer_halves) schedule.radix = outer_radix;
    if (!text.empty() && (!take(text, "/") || !take_power(text, schedule.group))) return std::nullopt;
  } else if (!take_part(text, schedule.kind, schedule.radix)) {
    return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return schedule;
}

}  // namespace detccl::plan
