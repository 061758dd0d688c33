// SPDX-License-Identifier: Apache-2.0
// Reductions over peer memory give the reference evaluator's bits, whatever came before them.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "group.h"

namespace detccl::device::cuda::peer {
namespace {

using host::below;
using plan::Collective;

class Peer : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    int processors = 0;
    ASSERT_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    if (processors < 64) GTEST_SKIP() << "the ranks' kernels would not run at the same time";
  }
};

using Arenas = std::vector<std::vector<std::byte>>;

void fill(host::Random& random, const GroupCall& c, Arenas& arenas) {
  const std::size_t size = contract::size_of(c.arithmetic.type);
  for (std::size_t r = 0; r < arenas.size(); ++r) {
    for (std::uint64_t at = 0; at < c.send_bytes; at += size) {
      const std::uint64_t bits = host::random_element(random, c.arithmetic.type);
      std::memcpy(arenas[r].data() + c.send[r] + at, &bits, size);
    }
  }
}

/// Makes the calls one after the other without waiting, and compares everything in all arenas afterwards.
void check(Group& group, host::Random& random, const std::vector<GroupCall>& calls, std::uint64_t bytes,
           bool streams) {
  Arenas before(group.ranks(), std::vector<std::byte>(bytes));
  for (auto& arena : before)
    std::memset(arena.data(), 0x5a, arena.size());
  for (const GroupCall& c : calls)
    fill(random, c, before);
  Arenas after = before;
  for (const GroupCall& c : calls) {
    for (std::uint32_t r = 0; r < group.ranks(); ++r) {
      if (!receives(c, r)) continue;
      const auto result = expected(c, before, r);
      std::memcpy(after[r].data() + c.receive[r], result.data(), result.size());
    }
  }
  for (std::uint32_t r = 0; r < group.ranks(); ++r)
    ASSERT_CUDA(cudaMemcpy(group.memory(r), before[r].data(), bytes, cudaMemcpyHostToDevice));
  ASSERT_CUDA(cudaDeviceSynchronize());
  for (const GroupCall& c : calls) {
    for (std::uint32_t r = 0; r < group.ranks(); ++r) {
      const auto which = streams ? static_cast<std::uint32_t>(below(random, Group::kStreams)) : 0;
      ASSERT_CUDA(group.enqueue(c, r, which));
    }
  }
  const auto failures = group.finish();
  for (const Failure failure : failures)
    ASSERT_EQ(failure, Failure::none);
  for (std::uint32_t r = 0; r < group.ranks(); ++r) {
    std::vector<std::byte> got(bytes);
    ASSERT_CUDA(cudaMemcpy(got.data(), group.memory(r), bytes, cudaMemcpyDeviceToHost));
    if (got == after[r]) continue;
    std::uint64_t at = 0;
    while (got[at] == after[r][at])
      ++at;
    std::string which = "outside of any result";
    for (const GroupCall& c : calls) {
      if (receives(c, r) && at >= c.receive[r] && at < c.receive[r] + c.receive_bytes) which = describe(c);
    }
    FAIL() << group.ranks() << " ranks, rank " << r << ", byte " << at << ": " << which;
  }
}

/// Arrays beside each other, for calls that are made without waiting.
std::uint64_t room(const GroupCall& c) {
  return (c.send_bytes + c.receive_bytes + 1024 + 255) / 256 * 256;
}

TEST_F(Peer, RandomReductionsAreTheReference) {
  host::Random random(host::new_seed());
  for (std::uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks) {
    Group group(ranks);
    for (int round = 0; round < 60; ++round) {
      const GroupCall c = random_call(random, group, 256, 100000);
      check(group, random, {c}, 256 + room(c), false);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(Peer, ManyWithoutWaitingAreTheReference) {
  host::Random random(host::new_seed());
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
    Group group(ranks);
    for (int round = 0; round < 4; ++round) {
      std::vector<GroupCall> calls;
      std::uint64_t bytes = 256;
      while (calls.size() < 60) {
        calls.push_back(random_call(random, group, bytes, 10000));
        bytes += room(calls.back());
      }
      check(group, random, calls, bytes, true);
      if (HasFatalFailure()) return;
    }
  }
}

/// Longer than all slots together, so that they are used again and again.
TEST_F(Peer, LongReductionsAreTheReference) {
  host::Random random(host::new_seed());
  for (const std::uint32_t ranks : {2U, 4U, 7U, 8U}) {
    Group group(ranks, 2, 1024);
    for (const Mode mode : {Mode::one_shot, Mode::two_shot}) {
      for (const Collective collective :
           {Collective::all_reduce, Collective::reduce_scatter, Collective::reduce}) {
        GroupCall c = random_call(random, group, 256, 1);
        c.arithmetic = {contract::DataType::bfloat16, contract::Op::sum};
        c.arithmetic.ranks = ranks;
        c.mode = collective == Collective::reduce_scatter ? Mode::two_shot : mode;
        c.collective = collective;
        const std::uint64_t shards = collective == Collective::reduce_scatter ? ranks : 1;
        c.count = 150000 / shards + below(random, 16);
        c.receive_bytes = c.count * 2;
        c.send_bytes = c.receive_bytes * shards;
        for (std::uint32_t r = 0; r < ranks; ++r) {
          c.send[r] = 256;
          c.receive[r] = (256 + c.send_bytes + 511) / 256 * 256;
        }
        check(group, random, {c}, 256 + room(c), false);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// The same operations over and over, random ones at random times; results compared at the end of each batch
/// with those of the first time.
TEST_F(Peer, BackToBackOperationsKeepTheirBits) {
  host::Random random(host::new_seed());
  const std::uint64_t operations = times("DETCCL_TEST_OPERATIONS", 20000);
  for (const std::uint32_t ranks : {8U, 4U, 2U}) {
    Group group(ranks, 8, 2048);  // in one step of a block, and in several
    std::vector<GroupCall> calls;
    std::uint64_t bytes = 256;
    while (calls.size() < 48) {
      GroupCall c = random_call(random, group, bytes, 60000);
      // In place the input would be another one the next time.
      const std::uint64_t second = (bytes + 256 + c.send_bytes + 64 + 255) / 256 * 256;
      for (std::uint64_t& at : c.receive)
        at = second + at % 16;
      calls.push_back(c);
      bytes += room(c);
    }
    check(group, random, calls, bytes, true);
    if (HasFatalFailure()) return;
    Arenas right(ranks, std::vector<std::byte>(bytes));
    for (std::uint32_t r = 0; r < ranks; ++r)
      ASSERT_CUDA(cudaMemcpy(right[r].data(), group.memory(r), bytes, cudaMemcpyDeviceToHost));
    const std::uint64_t batch = std::min<std::uint64_t>(operations / 3, 1000);
    for (std::uint64_t done = 0; done < operations / 3; done += batch) {
      for (std::uint64_t i = 0; i < batch; ++i) {
        const GroupCall& c = calls[below(random, calls.size())];
        for (std::uint32_t r = 0; r < ranks; ++r)
          ASSERT_CUDA(group.enqueue(c, r, static_cast<std::uint32_t>(below(random, Group::kStreams))));
      }
      for (const Failure failure : group.finish())
        ASSERT_EQ(failure, Failure::none);
      for (std::uint32_t r = 0; r < ranks; ++r) {
        std::vector<std::byte> got(bytes);
        ASSERT_CUDA(cudaMemcpy(got.data(), group.memory(r), bytes, cudaMemcpyDeviceToHost));
        ASSERT_TRUE(got == right[r]) << "rank " << r << " of " << ranks << " after " << done + batch;
      }
    }
  }
}

}  // namespace
}  // namespace detccl::device::cuda::peer
