// SPDX-License-Identifier: Apache-2.0
// What the contract promises, between processes on host memory: every way to compute a reduction gives the
// bits of the contract's reference evaluator.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "nccl_api/cases.h"

namespace detccl::test {
namespace {

/// A PreMulSum of the case's factor, destroyed at the end; or a built-in operation.
class Operation {
 public:
  Operation(const Case& c, ncclComm_t comm) : c_(c), comm_(comm), op_(c.op) {
    if (!c.premulsum) return;
    std::uint64_t scalar = c.scalar;
    require(ncclRedOpCreatePreMulSum(&op_, &scalar, c.type, ncclScalarHostImmediate, comm), ncclSuccess,
            "ncclRedOpCreatePreMulSum");
  }
  ~Operation() {
    if (c_.premulsum) ncclRedOpDestroy(op_, comm_);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  operator ncclRedOp_t() const { return op_; }

 private:
  const Case& c_;
  ncclComm_t comm_;
  ncclRedOp_t op_;
};

/// One rank's side of one case.
class Check {
 public:
  Check(Rank& rank, ncclComm_t comm, const Case& c, const contract::Contract& contract)
      : rank_(rank),
        comm_(comm),
        c_(c),
        op_(c, comm),
        input_(input_of(c, rank.rank())),
        wanted_(expected(c, contract, rank.size())),
        shard_(c.count / static_cast<std::size_t>(rank.size())),
        own_shard_(static_cast<std::size_t>(rank.rank()) * shard_ * c.element()) {}

  void all_reduce() {
    Bytes out(input_.size());
    require(ncclAllReduce(input_.data(), out.data(), c_.count, c_.type, op_, comm_, nullptr), ncclSuccess,
            "ncclAllReduce");
    compare(out, wanted_, "all_reduce");
    require(ncclAllReduce(input_.data(), out.data(), c_.count, c_.type, op_, comm_, nullptr), ncclSuccess,
            "ncclAllReduce");
    compare(out, wanted_, "all_reduce again");
    Bytes in_place = input_;
    require(ncclAllReduce(in_place.data(), in_place.data(), c_.count, c_.type, op_, comm_, nullptr),
            ncclSuccess, "ncclAllReduce");
    compare(in_place, wanted_, "all_reduce in place");
  }

  /// The message cut anywhere, in buffers of any alignment that the element size allows.
  void all_reduce_in_pieces(Random& random) {
    Bytes in(input_.size() + 64), out(in.size());
    const std::size_t shift = random.below(8) * c_.element();
    std::copy(input_.begin(), input_.end(), in.begin() + static_cast<std::ptrdiff_t>(shift));
    for (std::size_t begin = 0; begin < c_.count;) {
      const std::size_t count = 1 + random.below(c_.count - begin);
      const std::size_t at = shift + begin * c_.element();
      require(ncclAllReduce(in.data() + at, out.data() + at, count, c_.type, op_, comm_, nullptr),
              ncclSuccess, "ncclAllReduce");
      begin += count;
    }
    compare(part(out, shift, input_.size()), wanted_, "all_reduce in pieces");
  }

  void reduce_scatter() {
    const Bytes wanted_shard = part(wanted_, own_shard_, shard_ * c_.element());
    Bytes out(shard_ * c_.element());
    require(ncclReduceScatter(input_.data(), out.data(), shard_, c_.type, op_, comm_, nullptr), ncclSuccess,
            "ncclReduceScatter");
    compare(out, wanted_shard, "reduce_scatter");
    Bytes in_place = input_;
    require(ncclReduceScatter(in_place.data(), in_place.data() + own_shard_, shard_, c_.type, op_, comm_,
                              nullptr),
            ncclSuccess, "ncclReduceScatter");
    compare(part(in_place, own_shard_, out.size()), wanted_shard, "reduce_scatter in place");
    Bytes gathered(input_.size());
    require(ncclAllGather(out.data(), gathered.data(), shard_, c_.type, comm_, nullptr), ncclSuccess,
            "ncclAllGather");
    compare(gathered, wanted_, "reduce_scatter, all_gather");
  }

  void reduce() {
    const bool is_root = rank_.rank() == c_.root;
    Bytes out(is_root ? input_.size() : 0);
    require(ncclReduce(input_.data(), is_root ? out.data() : nullptr, c_.count, c_.type, op_, c_.root, comm_,
                       nullptr),
            ncclSuccess, "ncclReduce");
    if (is_root) compare(out, wanted_, "reduce");
    Bytes in_place = input_;
    require(ncclReduce(in_place.data(), in_place.data(), c_.count, c_.type, op_, c_.root, comm_, nullptr),
            ncclSuccess, "ncclReduce");
    compare(in_place, is_root ? wanted_ : input_, "reduce in place");
  }

 private:
  static Bytes part(const Bytes& all, std::size_t from, std::size_t length) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(length));
  }

  void compare(const Bytes& got, const Bytes& wanted, const std::string& what) const {
    const std::string bad = difference(c_, got, wanted);
    require(bad.empty(), what + " of " + c_.text() + ": " + bad);
  }

  Rank& rank_;
  ncclComm_t comm_;
  const Case& c_;
  Operation op_;
  Bytes input_, wanted_;
  std::size_t shard_, own_shard_;
};

/// Whether a PreMulSum is refused: where blocks round products to a narrower type.
bool is_refused(const Case& c, const contract::Contract& contract, int ranks) {
  const auto type = static_cast<contract::DataType>(c.type);
  return ranks > 1 && contract.block != 0 && contract::accumulation_type(type, contract.accumulate) != type;
}

void expect_refusal(ncclComm_t comm, const Case& c) {
  const Operation op(c, comm);
  Bytes data(c.count * c.element());
  require(ncclAllReduce(data.data(), data.data(), c.count, c.type, op, comm, nullptr), ncclInvalidUsage,
          "a PreMulSum under a contract whose blocks round");
}

struct Setting {
  int ranks;
  const char* contract;
  const char* schedule;
  const char* chunk;
  int cases;
  std::size_t largest;
};

void PrintTo(const Setting& s, std::ostream* out) {
  *out << s.ranks << " ranks, " << s.contract << " by " << s.schedule << ", chunk " << s.chunk;
}

class Promise : public testing::TestWithParam<Setting> {};

TEST_P(Promise, AnyWayGivesTheContractsBits) {
  const Setting s = GetParam();
  const std::uint64_t seed = fresh_seed();
  RunOptions options;
  options.environment = {
      {"DETCCL_CONTRACT", s.contract}, {"DETCCL_SCHEDULE", s.schedule}, {"DETCCL_CHUNK", s.chunk}};
  const contract::Contract contract = *contract::parse_contract(s.contract);
  const RunResult result = run_ranks(s.ranks, options, [&](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    Random random(seed);
    for (int i = 0; i < s.cases; ++i) {
      const Case c = random_case(random, s.ranks, s.largest);
      if (c.premulsum && is_refused(c, contract, s.ranks)) {
        expect_refusal(comm, c);
        continue;
      }
      Check check(rank, comm, c, contract);
      check.all_reduce();
      check.all_reduce_in_pieces(random);
      check.reduce_scatter();
      check.reduce();
    }
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Promise,
    testing::Values(
        Setting{1, "tree", "auto", "auto", 60, 3000}, Setting{2, "tree", "auto", "auto", 60, 3000},
        Setting{2, "linear:native", "ring", "100", 40, 2000}, Setting{3, "linear", "ring", "1K", 40, 3000},
        Setting{3, "tree", "tree", "256", 40, 2000}, Setting{4, "tree:native", "tree", "auto", 40, 4000},
        Setting{4, "tree:wide/2", "direct", "512", 40, 4000}, Setting{5, "tree", "gather", "64", 30, 600},
        Setting{5, "linear", "direct", "auto", 30, 4000}, Setting{6, "linear/4", "ring", "2K", 20, 4000},
        Setting{7, "tree", "auto", "auto", 20, 4000}, Setting{8, "tree:wide/4", "tree", "4K", 20, 4000},
        Setting{16, "tree", "direct", "auto", 4, 2000}),
    [](const auto& setting) { return "Case" + std::to_string(setting.index); });

/// Larger messages, so that many chunks are under way.
TEST(Promise, LargeMessages) {
  const std::uint64_t seed = fresh_seed();
  RunOptions options;
  options.environment = {{"DETCCL_CHUNK", "64K"}};
  const RunResult result = run_ranks(4, options, [&](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    Case c;
    c.type = ncclBfloat16;
    c.count = 1u << 20;
    c.seed = seed;
    Check check(rank, comm, c, contract::Contract{});
    check.all_reduce();
    check.reduce_scatter();
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

std::uint64_t digest(const Bytes& bytes) {
  return std::accumulate(
      bytes.begin(), bytes.end(), std::uint64_t{0xcbf29ce484222325u},
      [](std::uint64_t hash, std::uint8_t byte) { return (hash ^ byte) * 0x100000001b3u; });
}

/// The digest of a sum of floats over 8 ranks, which depends on the order of the additions.
std::uint64_t digest_of_sum(const Variables& environment, std::uint64_t seed) {
  RunOptions options;
  options.environment = environment;
  const RunResult result = run_ranks(8, options, [seed](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    Case c;
    c.count = 4096;
    c.seed = seed;
    const Bytes input = input_of(c, rank.rank());
    Bytes out(input.size());
    require(ncclAllReduce(input.data(), out.data(), c.count, c.type, c.op, comm, nullptr), ncclSuccess,
            "ncclAllReduce");
    reinterpret_cast<std::uint64_t*>(rank.memory())[rank.rank()] = digest(out);
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
  const auto* digests = reinterpret_cast<const std::uint64_t*>(result.memory.data());
  for (int rank = 1; rank < 8; ++rank)
    EXPECT_EQ(digests[rank], digests[0]) << "rank " << rank;
  return digests[0];
}

TEST(Promise, PlacementDoesNotMatter) {
  const std::uint64_t seed = fresh_seed();
  const std::string permuted = "3,0,6,1,7,5,2,4";
  const std::uint64_t native = digest_of_sum({{"DETCCL_DISABLE", "1"}}, seed);
  const std::uint64_t native_permuted =
      digest_of_sum({{"DETCCL_DISABLE", "1"}, {"HOSTNCCL_PLACEMENT", permuted}}, seed);
  EXPECT_NE(native, native_permuted)
      << "the native sums do not depend on the placement: this test shows nothing";
  const std::uint64_t ours = digest_of_sum({}, seed);
  EXPECT_EQ(ours, digest_of_sum({{"HOSTNCCL_PLACEMENT", permuted}}, seed));
  Case c;
  c.count = 4096;
  c.seed = seed;
  EXPECT_EQ(ours, digest(expected(c, contract::Contract{}, 8)));
}

}  // namespace
}  // namespace detccl::test
