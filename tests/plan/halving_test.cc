// SPDX-License-Identifier: Apache-2.0
// What halving and hier promise beside the result: bytes, peers, rails, scratch, and that ranks go in step.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "plan/summary.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

constexpr Schedule kHalved[] = {Schedule::halving,
                                hier(Kind::direct, Kind::halving, 8),
                                hier(Kind::halving, Kind::halving, 8),
                                hier(Kind::direct, Kind::direct, 8),
                                hier(Kind::halving, Kind::direct, 4),
                                halving_by(4),
                                hier(Kind::direct, Kind::halving, 8, 8)};

Spec make(const Schedule& schedule, std::uint32_t ranks, const char* contract,
          std::uint64_t count = 1u << 20) {
  Spec spec;
  spec.schedule = schedule;
  spec.ranks = ranks;
  spec.count = count;
  spec.contract = contract::parse_contract(contract).value();
  return spec;
}

struct Most {
  double bytes = 0, scratch = 0;  ///< in messages
  std::uint64_t peers = 0, stages = 0;
};

Most most(const Spec& spec, contract::DataType type) {
  Most m;
  const auto message = static_cast<double>(spec.count * contract::size_of(type));
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) {
    const Cost c = cost(spec, rank, type);
    m.bytes = std::max(m.bytes, static_cast<double>(std::max(c.bytes_sent, c.bytes_received)) / message);
    m.scratch = std::max(m.scratch, static_cast<double>(c.scratch_bytes) / message);
    m.peers = std::max(m.peers, c.peers);
    m.stages = std::max(m.stages, c.stages);
  }
  return m;
}

TEST(Halving, PowersOfTwoAreOptimal) {
  for (const Schedule& schedule : kHalved) {
    for (std::uint32_t n = 2; n <= 1024; n *= 2) {
      const Most m = most(make(schedule, n, "tree"), contract::DataType::float32);
      EXPECT_LE(m.bytes, 1.02 * 2 * (n - 1) / n) << name(schedule) << " " << n;
      EXPECT_LE(m.scratch, 2.0) << name(schedule) << " " << n;
      const auto log = static_cast<std::uint64_t>(std::bit_width(n) - 1);
      if (schedule.kind == Kind::hier && schedule.outer == Kind::direct) continue;
      const bool doubles = schedule.radix == 2;
      EXPECT_LE(m.peers, doubles ? log + 4 : 8 + 2 * log) << name(schedule) << " " << n;
      EXPECT_LE(m.stages, doubles ? 2 * log : 2 * (1 + (log + 1) / 2)) << name(schedule) << " " << n;
    }
  }
}

TEST(Halving, AnyNumberOfRanksMovesLittleMoreAndTalksToAsFewAsThereAreInAGroupAndGroups) {
  for (const Schedule& schedule : kHalved) {
    for (const std::uint32_t n :
         {3u, 5u, 6u, 7u, 9u, 11u, 12u, 17u, 33u, 39u, 63u, 65u, 72u, 100u, 127u, 257u, 1000u, 1025u}) {
      const Most m = most(make(schedule, n, "tree:native"), contract::DataType::bfloat16);
      EXPECT_LE(m.bytes, 1.2 * 2 * (n - 1) / n) << name(schedule) << " " << n;
      EXPECT_LE(m.scratch, 2.0) << name(schedule) << " " << n;
      const std::uint32_t group = schedule.kind == Kind::hier ? schedule.group : 1;
      EXPECT_LE(m.peers, group + (n + group - 1) / group) << name(schedule) << " " << n;
    }
  }
}

TEST(Halving, WideSixteenBitValuesCostASixteenthMore) {
  for (const std::uint32_t n : {16u, 64u, 1024u}) {
    const Most m = most(make(Schedule::halving, n, "tree"), contract::DataType::bfloat16);
    EXPECT_LE(m.bytes, 1.0626 * 2 * (n - 1) / n) << n;
  }
  for (const std::uint32_t n : {9u, 24u, 63u, 100u, 1000u})
    EXPECT_LE(most(make(Schedule::halving, n, "tree"), contract::DataType::bfloat16).bytes, 2.126) << n;
}

/// Full groups: ranks of different groups have to do with each other on their own rail only.
TEST(Halving, HierStaysOnRailsBetweenGroups) {
  for (const std::uint32_t n : {16u, 24u, 64u, 72u, 200u}) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      for (const Stage& stage : build(make(hier(Kind::direct, Kind::halving, 8), n, "tree"), rank).stages) {
        for (const Transfer& t : stage.sends)
          EXPECT_TRUE(t.peer / 8 == rank / 8 || t.peer % 8 == rank % 8)
              << n << ": " << rank << " to " << t.peer;
      }
    }
  }
}

/// With blocks that are the groups and direct between them, nothing wider than the payload leaves a group.
TEST(Halving, OnlyPayloadCrossesBlockBorders) {
  for (const std::uint32_t n : {16u, 24u, 61u, 72u}) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      for (const Stage& stage : build(make(hier(Kind::halving, Kind::direct, 8), n, "tree/8"), rank).stages) {
        for (const Transfer& t : stage.sends) {
          if (t.peer / 8 == rank / 8) continue;
          EXPECT_NE(t.region.form, Form::partial) << n << ": " << rank;
        }
      }
    }
  }
}

/// Both ends of a transfer are in the same step, a rank's stages follow each other, and folds come before the
/// steps that only move results.
TEST(Halving, RanksGoInStep) {
  for (const Schedule& schedule : kSchedules) {
    for (const Collective collective : kCollectives) {
      for (const std::uint32_t n : {1u, 2u, 3u, 7u, 8u, 13u, 21u, 40u}) {
        Spec spec = make(schedule, n, schedule.kind == Kind::ring ? "linear" : "tree", 100);
        spec.collective = collective;
        spec.stride = collective == Collective::reduce_scatter ? 101 : 0;
        spec.root = n / 2;
        spec = pieces(spec).front().spec;
        const auto all = steps(spec);
        if (!all) continue;
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, int> balance;  // from, to, step
        for (std::uint32_t rank = 0; rank < n; ++rank) {
          std::uint32_t next = 0;
          for (const Stage& stage : build(spec, rank).stages) {
            std::uint32_t first = ~0u, last = next;
            for (const Transfer& t : stage.sends) {
              ++balance[{rank, t.peer, t.step}];
              first = std::min(first, t.step);
              last = std::max(last, t.step);
            }
            for (const Transfer& t : stage.receives) {
              --balance[{t.peer, rank, t.step}];
              first = std::min(first, t.step);
              last = std::max(last, t.step);
            }
            EXPECT_GE(first, next) << describe(spec) << " rank " << rank;
            if (!stage.folds.empty()) {
              EXPECT_LT(last, all->folding) << describe(spec) << " rank " << rank;
            }
            next = last + 1;
          }
          EXPECT_LE(next, all->folding + all->moving) << describe(spec) << " rank " << rank;
        }
        for (const auto& [ends, difference] : balance)
          EXPECT_EQ(difference, 0) << describe(spec) << " step " << std::get<2>(ends);
      }
    }
  }
}

}  // namespace
}  // namespace detccl::plan::testing
