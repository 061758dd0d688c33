// SPDX-License-Identifier: Apache-2.0
// Simulations whose time can be computed by hand.
#include "simulate/network.h"

#include <gtest/gtest.h>

#include "simulate/closed_forms.h"
#include "simulate/native.h"

namespace detccl::simulate {
namespace {

constexpr double kExact = 1e-9;  ///< seconds

Platform nodes(std::uint32_t domains, std::uint32_t gpus) {
  Platform p;
  p.parameters = default_parameters("h200");
  p.parameters.nvlink = {100e9, 2e-6};
  p.parameters.network = {50e9, 10e-6};
  p.domains = domains;
  p.gpus = gpus;
  return p;
}

Script sends(std::uint32_t rank, std::vector<Message> messages) {
  return {rank, {{0, std::move(messages), {}, 0, 0, 0}}, false, 1};
}
Script receives(std::uint32_t rank, std::vector<Message> messages) {
  return {rank, {{0, {}, std::move(messages), 0, 0, 0}}, false, 1};
}

TEST(Network, OneTransfer) {
  EXPECT_NEAR(run(nodes(1, 2), {sends(0, {{1, 1e9}}), receives(1, {{0, 1e9}})}), 2e-6 + 0.01, kExact);
  EXPECT_NEAR(run(nodes(2, 1), {sends(0, {{1, 1e9}}), receives(1, {{0, 1e9}})}), 10e-6 + 0.02, kExact);
}

TEST(Network, TwoTransfersShareALink) {
  const std::vector<Script> scripts = {sends(0, {{1, 1e9}, {2, 1e9}}), receives(1, {{0, 1e9}}),
                                       receives(2, {{0, 1e9}})};
  EXPECT_NEAR(run(nodes(1, 3), scripts), 2e-6 + 0.02, kExact);
}

TEST(Network, DirectionsAreApart) {
  Script a{0, {{0, {{1, 1e9}}, {{1, 1e9}}, 0, 0, 0}}, false, 1}, b = a;
  b.rank = 1;
  b.ticks[0].sends[0].peer = b.ticks[0].receives[0].peer = 0;
  EXPECT_NEAR(run(nodes(1, 2), {a, b}), 2e-6 + 0.01, kExact);
}

TEST(Network, LeafSwitchesAreOversubscribed) {
  Platform p = nodes(4, 1);
  p.domains_per_leaf = 2;
  p.oversubscription = 4;
  const std::vector<Script> scripts = {sends(0, {{2, 1e9}}), sends(1, {{3, 1e9}}), receives(2, {{0, 1e9}}),
                                       receives(3, {{1, 1e9}})};
  // 2 GB through 2 x 50 / 4 GB/s.
  EXPECT_NEAR(run(p, scripts), 10e-6 + 0.08, kExact);
}

TEST(Network, LaunchesAndFolds) {
  Platform p = nodes(1, 2);
  p.parameters.fold_launch = 3e-6;
  p.parameters.fold_bandwidth = 1e12;
  p.parameters.fold_bandwidth_beside = 5e11;
  const Tick both{0, {{1, 1e6}}, {{1, 1e6}}, 5e-6, 0, 3e6};
  std::vector<Script> scripts = {{0, {both, both}, false, 1}, {1, {both, both}, false, 1}};
  for (Script& s : scripts)
    s.ticks[1].number = 1;
  for (Tick& tick : scripts[1].ticks)
    tick.sends[0].peer = tick.receives[0].peer = 0;
  const double tick = 5e-6 + 2e-6 + 1e-5;
  // A tick's launch is not held up by the folds before it, its messages are.
  EXPECT_NEAR(run(p, scripts), 2 * tick - 5e-6 + 2 * 6e-6, kExact);
  for (Script& s : scripts)
    s.overlapped = true;  // only the last fold shows, at its lower bandwidth
  EXPECT_NEAR(run(p, scripts), 2 * tick + 9e-6, kExact);
}

TEST(Network, FurtherSendsAreOneAfterTheOther) {
  Platform p = nodes(1, 3);
  p.parameters.transfer = 50e-6;
  // The second begins 50 us after the first, the link has time for both.
  const std::vector<Script> scripts = {sends(0, {{1, 1e6}, {2, 1e6}}), receives(1, {{0, 1e6}}),
                                       receives(2, {{0, 1e6}})};
  EXPECT_NEAR(run(p, scripts), 2e-6 + 1e-5 + 50e-6, kExact);
}

TEST(Network, WaitingForEverIsAnError) {
  EXPECT_THROW(run(nodes(1, 2), {receives(0, {{1, 1}}), receives(1, {{0, 1}})}), std::runtime_error);
}

TEST(Native, RingOfFourIsItsClosedForm) {
  const Platform p = nodes(1, 4);
  const Protocol simple{"simple", 1, 8e-6, 0, 3e-6, 14e-6, 0, 0};
  for (const std::uint32_t laps : {1u, 2u}) {
    const double simulated = run(channel_platform(p, simple, false), ring_scripts(p, simple, laps, 4e8));
    EXPECT_NEAR(simulated, ring_seconds(p, simple, laps, 4e8), kExact);
  }
}

TEST(Native, RingOverNodesIsCloseToItsClosedForm) {
  const Platform p = nodes(4, 4);
  const Protocol& simple = p.parameters.protocols[2];
  for (const double bytes : {1e4, 1e6, 1e9}) {
    const double simulated = run(channel_platform(p, simple, false), ring_scripts(p, simple, 2, bytes));
    EXPECT_NEAR(simulated / ring_seconds(p, simple, 2, bytes), 1, 0.15) << bytes;
  }
}

TEST(Native, TreeOverNodesIsCloseToItsClosedForm) {
  const Platform p = nodes(16, 4);
  const Protocol& simple = p.parameters.protocols[2];
  for (const double bytes : {1e4, 3e7, 1e9}) {
    const double simulated = run(channel_platform(p, simple, true), tree_scripts(p, simple, bytes));
    EXPECT_NEAR(simulated / tree_seconds(p, simple, bytes), 1, 0.25) << bytes;
  }
}

}  // namespace
}  // namespace detccl::simulate
