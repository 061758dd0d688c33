// SPDX-License-Identifier: Apache-2.0
// Specs to test with, and how to print them.
#pragma once

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace detccl::plan {

inline void PrintTo(const Schedule& s, std::ostream* out) {
  *out << name(s);
}
inline void PrintTo(Collective c, std::ostream* out) {
  *out << name(c);
}

}  // namespace detccl::plan

namespace detccl::plan::testing {

using Random = std::mt19937_64;

/// Uniform in [low, high].
std::uint64_t pick(Random& random, std::uint64_t low, std::uint64_t high);
/// One of a list's indices. `size` is not 0.
inline std::size_t pick_index(Random& random, std::size_t size) {
  return pick(random, 0, size - 1);
}
inline bool coin(Random& random) {
  return pick(random, 0, 1) == 1;
}

inline constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                              Collective::reduce};
inline constexpr Schedule kSchedules[] = {Schedule::gather,
                                          Schedule::direct,
                                          Schedule::ring,
                                          Schedule::tree,
                                          Schedule::halving,
                                          halving_by(4),
                                          hier(Kind::direct, Kind::halving, 4),
                                          hier(Kind::direct, Kind::halving, 4, 8),
                                          hier(Kind::direct, Kind::direct, 2),
                                          hier(Kind::halving, Kind::direct, 8)};

/// A schedule's name as a part of a test's.
std::string test_name(const Schedule& schedule);

/// tree and linear, each plain, :native, /2, /4, /8.
std::vector<contract::Contract> contracts();
/// Those of them that the schedule can carry out.
std::vector<contract::Contract> contracts_of(Schedule schedule);

/// A valid spec of at most `most_ranks` ranks, which build() takes as it is, with at least one element.
Spec random_spec(Random& random, std::uint32_t most_ranks);

/// All ranks' programs.
std::vector<Program> build_all(const Spec& spec);

/// "reduce by ring, linear/4, n = 5, root 3, count 17, stride 0".
std::string describe(const Spec& spec);

}  // namespace detccl::plan::testing
