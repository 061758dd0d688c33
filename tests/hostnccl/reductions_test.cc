// SPDX-License-Identifier: Apache-2.0
// AllReduce, ReduceScatter and Reduce: every type and operation, bit for bit as the ring model says.
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "ranks.h"
#include "ring_model.h"

namespace detccl::test {
namespace {

using contract::DataType;
using contract::Op;

struct Case {
  DataType type;
  Op op;
  std::size_t count;  ///< AllReduce's and Reduce's; ReduceScatter's times the ranks
  std::uint32_t root;
  std::vector<Bits> inputs;
  std::uint64_t scalar;
  // What must come of them.
  Bits all_reduced, reduced;
  std::vector<Bits> scattered;  ///< by rank; empty where `count` is no multiple of the ranks
};

std::string describe(const Case& c, std::uint64_t seed) {
  return std::string(contract::name(c.type)) + " " + std::string(contract::name(c.op)) + " count " +
         std::to_string(c.count) + " ranks " + std::to_string(c.inputs.size()) + " seed " +
         std::to_string(seed);
}

std::vector<std::uint32_t> identity(std::size_t ranks) {
  std::vector<std::uint32_t> ring(ranks);
  std::iota(ring.begin(), ring.end(), 0u);
  return ring;
}

Case make_case(DataType type, Op op, std::size_t count, const std::vector<std::uint32_t>& ring,
               std::mt19937_64& random) {
  Case c{type, op, count, static_cast<std::uint32_t>(random() % ring.size()), {}, 0, {}, {}, {}};
  for (std::size_t rank = 0; rank < ring.size(); ++rank)
    c.inputs.push_back(random_values(type, count, random));
  c.scalar = random_values(type, 1, random)[0];
  const RingModel model{type, op, c.scalar, ring};
  c.all_reduced = model.all_reduce(c.inputs);
  c.reduced = model.reduce(c.inputs, c.root);
  for (std::uint32_t rank = 0; count % ring.size() == 0 && rank < ring.size(); ++rank) {
    c.scattered.push_back(model.reduce_scatter(c.inputs, rank));
  }
  return c;
}

ncclRedOp_t op_of(const Case& c, ncclComm_t comm) {
  if (c.op != Op::premulsum) return static_cast<ncclRedOp_t>(c.op);
  std::uint64_t scalar = c.scalar;
  ncclRedOp_t op;
  must(ncclRedOpCreatePreMulSum(&op, &scalar, static_cast<ncclDataType_t>(c.type), ncclScalarHostImmediate,
                                comm));
  scalar = 0;  // it was read at creation
  return op;
}

void run_case(const Case& c, int rank, ncclComm_t comm, const std::string& what) {
  const auto type = static_cast<ncclDataType_t>(c.type);
  const auto own = static_cast<std::uint32_t>(rank);
  const ncclRedOp_t op = op_of(c, comm);
  const std::vector<std::byte> input = to_bytes(c.type, c.inputs[own]);

  std::vector<std::byte> result(input.size());
  must(ncclAllReduce(input.data(), result.data(), c.count, type, op, comm, nullptr));
  EXPECT_EQ(to_bits(c.type, result), c.all_reduced) << "AllReduce " << what;
  result = input;
  must(ncclAllReduce(result.data(), result.data(), c.count, type, op, comm, nullptr));
  EXPECT_EQ(to_bits(c.type, result), c.all_reduced) << "AllReduce in place " << what;

  result.assign(input.size(), std::byte{0});
  const bool at_root = own == c.root;
  must(ncclReduce(input.data(), at_root ? result.data() : nullptr, c.count, type, op,
                  static_cast<int>(c.root), comm, nullptr));
  if (at_root) {
    EXPECT_EQ(to_bits(c.type, result), c.reduced) << "Reduce " << what;
  }
  result = input;
  must(ncclReduce(result.data(), result.data(), c.count, type, op, static_cast<int>(c.root), comm, nullptr));
  const Bits reduced = at_root ? c.reduced : c.inputs[own];
  EXPECT_EQ(to_bits(c.type, result), reduced) << "Reduce in place " << what;

  const std::size_t shard = c.count / c.inputs.size(), shard_bytes = shard * contract::size_of(c.type);
  if (!c.scattered.empty()) {
    const Bits& scattered = c.scattered[own];
    result.assign(shard_bytes, std::byte{0});
    must(ncclReduceScatter(input.data(), result.data(), shard, type, op, comm, nullptr));
    EXPECT_EQ(to_bits(c.type, result), scattered) << "ReduceScatter " << what;
    result = input;
    std::byte* const place = result.data() + own * shard_bytes;
    must(ncclReduceScatter(result.data(), place, shard, type, op, comm, nullptr));
    EXPECT_EQ(to_bits(c.type, {place, place + shard_bytes}), scattered) << "ReduceScatter in place " << what;
  }
  if (c.op == Op::premulsum) must(ncclRedOpDestroy(op, comm));
}

void run_cases(const std::vector<Case>& cases, std::uint64_t seed) {
  on_ranks(static_cast<int>(cases[0].inputs.size()), [&](int rank, ncclComm_t comm) {
    for (const Case& c : cases)
      run_case(c, rank, comm, describe(c, seed));
  });
}

TEST(Reductions, EveryTypeAndOperationIsTheRingsBits) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (const std::size_t ranks : {1u, 2u, 3u, 5u, 8u}) {
    std::vector<Case> cases;
    for (int type = 0; type < contract::kDataTypes; ++type) {
      for (int op = 0; op < contract::kOps; ++op) {
        const std::size_t count = op % 2 == 0 ? 1 + random() % 60 : ranks * (1 + random() % 12);
        cases.push_back(
            make_case(static_cast<DataType>(type), static_cast<Op>(op), count, identity(ranks), random));
      }
    }
    run_cases(cases, seed);
  }
}

TEST(Reductions, CountsAroundTheNumberOfRanks) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  std::vector<Case> cases;
  for (std::size_t count = 1; count <= 13; ++count) {
    cases.push_back(make_case(DataType::float32, Op::sum, count, identity(6), random));
  }
  run_cases(cases, seed);
}

/// Longer than a slice, and not a multiple of one.
TEST(Reductions, SlicedMessages) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  std::vector<Case> cases;
  cases.push_back(make_case(DataType::float32, Op::sum, 3 * 65536 + 5, identity(3), random));
  cases.push_back(make_case(DataType::float32, Op::sum, 3 * (3 * 65536 + 1), identity(3), random));
  cases.push_back(make_case(DataType::bfloat16, Op::avg, 3 * 131073, identity(3), random));
  cases.push_back(make_case(DataType::float64, Op::sum, 7 * 32768 - 2, identity(3), random));
  run_cases(cases, seed);
}

TEST(Reductions, PlacementIsTheRingsOrder) {
  const std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random(seed);
  const std::vector<std::uint32_t> ring{2, 0, 4, 1, 3};
  std::vector<Case> cases;
  for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::int32, DataType::float8e4m3}) {
    for (const Op op : {Op::sum, Op::avg, Op::prod})
      cases.push_back(make_case(type, op, 40, ring, random));
  }
  setenv("HOSTNCCL_PLACEMENT", "2,0,4,1,3", 1);
  run_cases(cases, seed);
  unsetenv("HOSTNCCL_PLACEMENT");
}

Bits all_reduced(const std::vector<Bits>& inputs, const char* placement, std::size_t pieces) {
  if (placement != nullptr) setenv("HOSTNCCL_PLACEMENT", placement, 1);
  Bits bits;
  on_ranks(static_cast<int>(inputs.size()), [&](int rank, ncclComm_t comm) {
    std::vector<std::byte> data = to_bytes(DataType::float32, inputs[static_cast<std::size_t>(rank)]);
    const std::size_t piece = inputs[0].size() / pieces;
    for (std::size_t i = 0; i < pieces; ++i) {
      std::byte* const start = data.data() + i * piece * sizeof(float);
      must(ncclAllReduce(start, start, piece, ncclFloat32, ncclSum, comm, nullptr));
    }
    if (rank == 0) bits = to_bits(DataType::float32, data);
  });
  unsetenv("HOSTNCCL_PLACEMENT");
  return bits;
}

/// The habit of NCCL's that the whole project is about: placement and bucketing change the bits.
TEST(Reductions, BitsDependOnPlacementAndOnBucketing) {
  std::mt19937_64 random(7);
  std::vector<Bits> inputs;
  for (int rank = 0; rank < 6; ++rank)
    inputs.push_back(random_values(DataType::float32, 4096, random));
  const Bits fused = all_reduced(inputs, nullptr, 1);
  EXPECT_EQ(fused, all_reduced(inputs, "0,1,2,3,4,5", 1));
  EXPECT_EQ(fused, all_reduced(inputs, nullptr, 1));
  EXPECT_NE(fused, all_reduced(inputs, "0,2,4,1,3,5", 1));
  EXPECT_NE(fused, all_reduced(inputs, nullptr, 2));
}

}  // namespace
}  // namespace detccl::test
