// SPDX-License-Identifier: Apache-2.0
// What needs no simulation: routes, scripts, trees, closed forms.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "plan/summary.h"
#include "simulate/closed_forms.h"
#include "simulate/native.h"
#include "simulate/replay.h"

namespace detccl::simulate {
namespace {

Platform nodes(std::uint32_t domains, std::uint32_t gpus) {
  Platform p;
  p.parameters = default_parameters("h200");
  p.domains = domains;
  p.gpus = gpus;
  return p;
}

TEST(Platform, RoutesAlongRails) {
  Platform p = nodes(4, 8);
  p.domains_per_leaf = 2;
  const auto kinds = [&p](std::uint32_t from, std::uint32_t to) {
    std::vector<LinkKind> all;
    for (const Link& link : p.route(from, to))
      all.push_back(link.kind);
    return all;
  };
  using enum LinkKind;
  EXPECT_EQ(kinds(0, 7), (std::vector{nvlink_up, nvlink_down}));
  EXPECT_EQ(kinds(1, 9), (std::vector{port_up, port_down}));
  EXPECT_EQ(kinds(1, 10), (std::vector{nvlink_up, nvlink_down, port_up, port_down}));
  EXPECT_EQ(kinds(1, 17), (std::vector{port_up, leaf_up, leaf_down, port_down}));
  EXPECT_EQ(p.route(1, 10)[2], (Link{port_up, 2}));
}

TEST(Platform, LeafSwitchesShareWhatIsAboveThem) {
  Platform p = nodes(40, 8);
  p.oversubscription = 2;
  EXPECT_DOUBLE_EQ(p.bandwidth({LinkKind::leaf_up, 0}), 32 * 50e9 / 2);
  EXPECT_DOUBLE_EQ(p.bandwidth({LinkKind::leaf_up, 8}), 8 * 50e9 / 2);
}

TEST(Parameters, AreReadOverDefaults) {
  const Parameters p =
      read_parameters(R"({"name": "mine", "nvlink": {"gb_s": 100}, "native": {"ll": {"ring_nvlink_us": 2}}})",
                      default_parameters("h200"));
  EXPECT_EQ(p.name, "mine");
  EXPECT_DOUBLE_EQ(p.nvlink.bandwidth, 100e9);
  EXPECT_DOUBLE_EQ(p.nvlink.latency, 3.4e-6);
  EXPECT_DOUBLE_EQ(p.protocols[0].ring_nvlink, 2e-6);
  EXPECT_THROW(read_parameters("{", p), std::invalid_argument);
  EXPECT_THROW(read_parameters(R"({"nvlink": {"gb_s": 0}})", p), std::invalid_argument);
  EXPECT_THROW(default_parameters("none"), std::invalid_argument);
}

/// Sends and receives between two actors, in order.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> flows(
    const std::vector<Script>& scripts, bool sends) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> all;
  for (std::uint32_t id = 0; id < scripts.size(); ++id)
    for (const Tick& tick : scripts[id].ticks)
      for (const Message& m : sends ? tick.sends : tick.receives)
        all[sends ? std::pair(id, m.peer) : std::pair(m.peer, id)].push_back(m.bytes);
  return all;
}

TEST(Native, ScriptsPair) {
  for (const auto& [domains, gpus] : {std::pair{1u, 2u}, {1u, 8u}, {2u, 8u}, {5u, 3u}, {7u, 1u}}) {
    const Platform p = nodes(domains, gpus);
    const Protocol& simple = p.parameters.protocols[2];
    const auto ring = ring_scripts(p, simple, 2, 1e6), tree = tree_scripts(p, simple, 1e6);
    EXPECT_EQ(flows(ring, true), flows(ring, false));
    EXPECT_EQ(flows(tree, true), flows(tree, false)) << domains << " x " << gpus;
  }
}

TEST(Native, TreesReachEveryNodeAndDivideTheWork) {
  for (std::uint32_t n = 1; n <= 70; ++n) {
    for (const bool counterpart : {false, true}) {
      const auto parent = binary_tree(n, counterpart);
      std::map<std::uint32_t, int> children;
      for (std::uint32_t i = 0; i < n; ++i) {
        std::uint32_t at = i, hops = 0;
        while (parent[at] != at && hops <= n) {
          at = parent[at];
          ++hops;
        }
        EXPECT_EQ(parent[at], at) << "a cycle over " << i << " of " << n;
        EXPECT_LE(hops, 8u);
        if (parent[i] != i) ++children[parent[i]];
      }
      for (const auto& [node, count] : children)
        EXPECT_LE(count, 2) << node << " of " << n;
    }
    if (n % 2 == 1) continue;
    // Whoever has two children in one has none in the other.
    std::set<std::uint32_t> inner;
    std::map<std::uint32_t, int> here, there;
    for (std::uint32_t i = 0; i < n; ++i) {
      ++here[binary_tree(n, false)[i]];
      ++there[binary_tree(n, true)[i]];
    }
    for (const auto& [node, count] : here)
      EXPECT_FALSE(count == 2 && there[node] == 2) << node << " of " << n;
  }
}

/// What scripts move is what the plans' costs say.
TEST(Replay, MovesWhatThePlansSay) {
  const Platform p = nodes(1, 6);
  for (const char* name : {"direct", "tree"}) {
    for (const auto collective : {plan::Collective::all_reduce, plan::Collective::reduce_scatter}) {
      engine::Settings settings = gpu_settings();
      settings.schedule = plan::parse_schedule(name);
      settings.chunk_bytes = 6 << 20;
      const Case c{collective, contract::DataType::float32, 12 << 20};
      const auto scripts = replay(c, p, settings);
      EXPECT_EQ(flows(scripts, true), flows(scripts, false));
      plan::Spec spec;
      spec.collective = collective;
      spec.schedule = *settings.schedule;
      spec.ranks = 6;
      spec.count = (c.bytes / 4) / (collective == plan::Collective::reduce_scatter ? 6 : 1);
      spec.stride = collective == plan::Collective::reduce_scatter ? spec.count : 0;
      double planned = 0, moved = 0;
      for (std::uint32_t rank = 0; rank < 6; ++rank)
        planned += static_cast<double>(plan::cost(spec, rank, c.type).bytes_sent);
      for (const auto& [pair, bytes] : flows(scripts, true))
        for (const double b : bytes)
          moved += b;
      // The results of `direct` are an all-gather.
      const bool gathers = collective == plan::Collective::all_reduce && std::string(name) == "direct";
      EXPECT_NEAR(gathers ? 2 * moved : moved, planned, 200) << name;
    }
  }
}

TEST(Replay, SmallMessagesHaveOneWaveAndLargeOnesOverlap) {
  const Platform p = nodes(1, 4);
  engine::Settings settings = gpu_settings();
  settings.schedule = plan::Schedule::direct;
  Case c{plan::Collective::all_reduce, contract::DataType::bfloat16, 1 << 20};
  EXPECT_FALSE(replay(c, p, settings).front().overlapped);
  c.bytes = 256 << 20;
  const auto scripts = replay(c, p, settings);
  EXPECT_TRUE(scripts.front().overlapped);
  EXPECT_GE(scripts.front().ticks.size(), 8u);
  settings.schedule = plan::Schedule::ring;  // not the contract's
  EXPECT_THROW(replay(c, p, settings), std::invalid_argument);
}

TEST(ClosedForms, RingByHand) {
  Platform p = nodes(1, 4);
  const Protocol simple{"simple", 1, 8e-6, 0, 3e-6, 14e-6, 0, 0};
  p.parameters.nvlink.bandwidth = 100e9;
  // 6 steps, each 3 us and a quarter of 400 MB at 100 GB/s.
  EXPECT_NEAR(ring_seconds(p, simple, 2, 400e6), 8e-6 + 6 * (3e-6 + 1e-3), 1e-12);
  // Two nodes of two: 2 rings, each 50 GB/s in the node and over its port; a lap has two hops between them.
  p.domains = p.gpus = 2;
  EXPECT_NEAR(ring_seconds(p, simple, 1, 400e6), 8e-6 + 3e-6 + 2 * 14e-6 + 3 * 1e-3, 1e-12);
}

TEST(ClosedForms, AllToAllByHand) {
  Platform p = nodes(4, 2);
  p.domains_per_leaf = 2;
  p.oversubscription = 4;
  // Over its port each GPU sends 6 MB to others, of which 4 MB go past the leaf switch, which is 4 times
  // slower.
  EXPECT_NEAR(all_to_all_seconds(p, 1e6), 3.4e-6 + 14e-6 + 16e6 / 50e9, 1e-12);
  p.oversubscription = 1;
  EXPECT_NEAR(all_to_all_seconds(p, 1e6), 3.4e-6 + 14e-6 + 6e6 / 50e9, 1e-12);
}

}  // namespace
}  // namespace detccl::simulate
