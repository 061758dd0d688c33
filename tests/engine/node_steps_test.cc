// SPDX-License-Identifier: Apache-2.0
// AllReduces over nodes: the steps that the GPU's engine takes, carried out here on host memory, give the
// bits that the reference evaluator has for all ranks together. Within a node the reference evaluator stands
// for the kernels; between nodes the engine's own plans run.
#include "engine/node_steps.h"

#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "contract/reference.h"
#include "virtual_streams.h"

namespace detccl::test {
namespace {

using contract::DataType;
using contract::Op;
using engine::NodeSteps;
using engine::NodeWay;
using engine::Reduction;
using plan::Collective;

/// One reduction of each rank of a node.
void reduce_within(const contract::Contract& contract, const std::vector<const Reduction*>& calls) {
  std::vector<Bytes> results;
  for (std::size_t place = 0; place < calls.size(); ++place) {
    const Reduction& call = *calls[place];
    const std::size_t bytes = call.count * contract::size_of(call.type);
    const std::size_t from = call.collective == Collective::reduce_scatter ? place * bytes : 0;
    std::vector<const void*> inputs;
    for (const Reduction* other : calls)
      inputs.push_back(static_cast<const std::byte*>(other->send) + from);
    results.emplace_back(bytes);
    contract::reduce(contract, call.type, call.op, inputs, results.back().data(), call.count);
  }
  for (std::size_t place = 0; place < calls.size(); ++place)
    std::memcpy(calls[place]->receive, results[place].data(), results[place].size());
}

std::string run_between(const NodeWay& way, const engine::Settings& like, const std::vector<NodeSteps>& all,
                        Random& random) {
  engine::Settings settings = like;
  settings.contract = way.contract_of_steps();
  settings.schedule = way.between;
  settings.scratch_limit = 16U << 20;
  for (std::uint32_t place = 0; place < way.size; ++place) {
    std::vector<std::vector<Reduction>> calls;
    for (std::uint32_t node = 0; node < way.nodes(); ++node)
      calls.push_back(all[node * way.size + place].between);
    const auto results = run_calls(settings, calls, random() % 2 == 0, random);
    if (!results.failure.empty()) return results.failure;
  }
  return {};
}

void collect(const std::vector<const NodeSteps*>& node) {
  for (std::size_t from = 0; from < node.size(); ++from) {
    const std::size_t bytes = node[from]->part_bytes;
    for (const NodeSteps* to : node)
      if (to != node[from])
        std::memcpy(to->gathered + from * bytes, node[from]->gathered + from * bytes, bytes);
  }
}

/// What is wrong, or nothing.
std::string check(const NodeWay& way, const Case& c, std::size_t whole_bytes, Random& random) {
  std::vector<std::unique_ptr<Buffers>> buffers;
  std::vector<NodeSteps> all;
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    buffers.push_back(std::make_unique<Buffers>(c, rank));
    all.push_back(way.steps(buffers.back()->call(), rank, whole_bytes));
  }
  for (std::uint32_t first = 0; first < c.ranks; first += way.size) {
    for (std::size_t k = 0; k < all[first].within.size(); ++k) {
      std::vector<const Reduction*> calls;
      for (std::uint32_t place = 0; place < way.size; ++place)
        calls.push_back(&all[first + place].within[k]);
      reduce_within(way.contract_of_steps(), calls);
    }
  }
  const std::string failure = run_between(way, c.settings, all, random);
  if (!failure.empty()) return failure;
  for (std::uint32_t first = 0; first < c.ranks; first += way.size) {
    std::vector<const NodeSteps*> node;
    for (std::uint32_t place = 0; place < way.size; ++place)
      node.push_back(&all[first + place]);
    collect(node);
  }
  std::vector<Bytes> inputs;
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank)
    inputs.push_back(input_of(c, rank));
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank) {
    const std::string damage = buffers[rank]->damage();
    if (!damage.empty()) return damage;
    if (buffers[rank]->output() != expected_of(c, rank, inputs))
      return "rank " + std::to_string(rank) + " differs from the reference";
  }
  return {};
}

NodeWay way_of(const char* contract, std::uint32_t size, std::uint32_t nodes,
               plan::Schedule between = plan::Schedule::halving) {
  return {contract::parse_contract(contract).value(), size * nodes, size, between};
}

class NodeStepsTest : public testing::Test {
 protected:
  NodeStepsTest() : seed_(std::random_device{}()), random_(seed_) { std::printf("seed %u\n", seed_); }

  /// A call that `way` takes.
  Case random_case(const NodeWay& way) {
    Case c;
    c.ranks = way.ranks;
    do {
      randomise(c, random_, 600);
      c.settings.contract = way.contract;
    } while (!way.takes(Buffers(c, 0).call()));
    return c;
  }
  NodeWay random_way() {
    constexpr std::array kContracts = {"tree",        "tree:native", "tree:wide/2",
                                       "tree:wide/4", "tree:wide/8", "tree:wide/16"};
    constexpr std::array kBetween = {plan::Schedule::halving, plan::Schedule::direct, plan::Schedule::gather,
                                     plan::halving_by(8)};
    const std::uint32_t size = 2U << random_() % 3;
    return way_of(kContracts[random_() % kContracts.size()], size,
                  static_cast<std::uint32_t>(2 + random_() % (size == 8 ? 4 : 9)),
                  kBetween[random_() % kBetween.size()]);
  }

  unsigned seed_;
  Random random_;
};

TEST_F(NodeStepsTest, GiveTheContractsBits) {
  int cut = 0, whole = 0, averages = 0, narrow = 0;
  for (int i = 0; i < 1500; ++i) {
    const NodeWay way = random_way();
    const Case c = random_case(way);
    const std::size_t whole_bytes = random_() % 3 == 0 ? NodeWay::kWhole : random_() % 600;
    EXPECT_EQ(check(way, c, whole_bytes, random_), "") << way.name() << ": " << describe(c);
    (way.steps(Buffers(c, 0).call(), 0, whole_bytes).part_bytes == 0 ? whole : cut) += 1;
    averages += c.op == Op::avg ? 1 : 0;
    narrow += contract::accumulation_type(c.type, way.contract.accumulate) != c.type ? 1 : 0;
  }
  for (const int some : {cut, whole, averages, narrow})
    EXPECT_GT(some, 50);
}

/// What is not taken would have other bits.
TEST_F(NodeStepsTest, WiderResultsOfNodesWouldBeRounded) {
  const NodeWay way = way_of("tree", 4, 4);
  Case c;
  c.ranks = way.ranks;
  c.count = 500;
  c.seed = random_();
  c.settings.contract = way.contract;
  for (const DataType type : {DataType::bfloat16, DataType::float16, DataType::float8e4m3}) {
    c.type = type;
    EXPECT_FALSE(way.takes(Buffers(c, 0).call()));
    EXPECT_NE(check(way, c, 100, random_), "") << contract::name(type);
  }
  c.type = DataType::float32;
  EXPECT_TRUE(way.takes(Buffers(c, 0).call()));
  EXPECT_EQ(check(way, c, 100, random_), "");
}

TEST(NodeWay, TakesAllReducesWhoseNodesHaveResultsOfThePayloadsType) {
  Reduction call;
  call.count = 1;
  const auto takes = [&call](const char* contract, std::uint32_t size, DataType type, Op op) {
    call.type = type;
    call.op = op;
    return way_of(contract, size, 2).takes(call);
  };
  for (const DataType type : {DataType::float32, DataType::float64, DataType::int8, DataType::uint64}) {
    for (const char* contract : {"tree", "tree:native", "tree:wide/2", "tree:wide/64"}) {
      EXPECT_TRUE(takes(contract, 8, type, Op::sum)) << contract;
      EXPECT_TRUE(takes(contract, 8, type, Op::avg)) << contract;
      EXPECT_FALSE(takes(contract, 8, type, Op::premulsum)) << contract;
    }
    EXPECT_FALSE(takes("linear", 8, type, Op::sum));
  }
  for (const DataType type :
       {DataType::bfloat16, DataType::float16, DataType::float8e4m3, DataType::float8e5m2}) {
    EXPECT_FALSE(takes("tree", 8, type, Op::avg));
    EXPECT_TRUE(takes("tree", 8, type, Op::max));
    EXPECT_TRUE(takes("tree:native", 8, type, Op::prod));
    EXPECT_TRUE(takes("tree:wide/8", 8, type, Op::avg));
    EXPECT_TRUE(takes("tree:wide/2", 2, type, Op::sum));
    EXPECT_FALSE(takes("tree:wide/4", 8, type, Op::sum));
    EXPECT_FALSE(takes("tree:wide/16", 8, type, Op::sum));
  }
  const NodeWay way = way_of("tree", 8, 2);
  call.type = DataType::float32;
  call.op = Op::sum;
  EXPECT_TRUE(way.takes(call));
  for (const Collective other : {Collective::reduce, Collective::reduce_scatter}) {
    call.collective = other;
    EXPECT_FALSE(way.takes(call));
  }
  call.collective = Collective::all_reduce;
  call.schedule = plan::Schedule::direct;
  EXPECT_FALSE(way.takes(call)) << "a schedule of its own";
  call.schedule.reset();
  call.count = 0;
  EXPECT_FALSE(way.takes(call));
  EXPECT_EQ(way.name(), "hier(peer,halving)/8");
}

/// Every rank of a node has an equal part, at 16-byte boundaries; every rail has the rest.
TEST(NodeWay, CutsLongMessagesAndLeavesShortOnesWhole) {
  const NodeWay way = way_of("tree:native", 4, 3);
  std::vector<std::byte> memory(16);
  Reduction call;
  call.type = DataType::bfloat16;
  call.send = call.receive = memory.data();
  call.count = NodeWay::kWhole / 2;
  NodeSteps steps = way.steps(call, 5);
  ASSERT_EQ(steps.within.size(), 1u);
  EXPECT_EQ(steps.within[0].collective, Collective::all_reduce);
  EXPECT_EQ(steps.within[0].count, call.count);
  EXPECT_EQ(steps.part_bytes, 0u);
  call.count += 33;
  call.op = Op::avg;
  steps = way.steps(call, 5);
  ASSERT_EQ(steps.within.size(), 2u);
  ASSERT_EQ(steps.between.size(), 2u);
  EXPECT_EQ(steps.within[0].collective, Collective::reduce_scatter);
  EXPECT_EQ(steps.within[0].count, (NodeWay::kWhole / 2 + 32) / 4);
  EXPECT_EQ(steps.part_bytes, steps.within[0].count * 2);
  EXPECT_EQ(steps.within[0].receive, memory.data() + steps.part_bytes) << "the second in its node";
  EXPECT_EQ(steps.within[1].collective, Collective::all_reduce);
  EXPECT_EQ(steps.within[1].count, 1u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(steps.within[i].op, Op::sum) << "not divided yet";
    EXPECT_EQ(steps.between[i].op, Op::avg);
    EXPECT_EQ(steps.between[i].divisor, 12u);
    EXPECT_EQ(steps.between[i].count, steps.within[i].count);
    EXPECT_EQ(steps.between[i].send, steps.between[i].receive);
    EXPECT_EQ(steps.between[i].send, steps.within[i].receive);
  }
}

}  // namespace
}  // namespace detccl::test
