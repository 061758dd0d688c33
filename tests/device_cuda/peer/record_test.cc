// SPDX-License-Identifier: Apache-2.0
// Reductions that record themselves: the digests of inputs and outputs as they are in memory, once for each
// time that the kernel runs.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "fingerprint/digest.h"
#include "group.h"
#include "recorder/cuda/device_ring.h"
#include "recorder/ring_reader.h"

namespace detccl::device::cuda::peer {
namespace {

using Bytes = std::vector<std::byte>;

class PeerRecord : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) {
      ASSERT_CUDA(ring_.init());
    }
  }

  /// A recording of rank `rank`, with a site of its own.
  recorder::Recording recording(std::uint32_t rank) {
    recorder::Recording to{ring_.ring(), next_site_++, nullptr, nullptr};
    if (counters_.size() <= rank) counters_.resize(rank + 1);
    if (counters_[rank] == nullptr) {
      EXPECT_EQ(ring_.counter(counters_[rank]), cudaSuccess);
    }
    to.operations = counters_[rank];
    EXPECT_EQ(ring_.accumulator(static_cast<std::uint32_t>(to.site), to.accumulator), cudaSuccess);
    return to;
  }
  std::multimap<std::uint64_t, recorder::Slot> records() {
    std::multimap<std::uint64_t, recorder::Slot> found;
    if (!reader_) reader_.emplace(ring_.host_slots(), ring_.host_control(), ring_.ring().capacity);
    for (recorder::Slot slot; reader_->next(slot);)
      found.emplace(slot.site, slot);
    return found;
  }
  static fingerprint::Sums sums_of(const Bytes& data) {
    fingerprint::Sums sums;
    if (!data.empty()) fingerprint::chunks(data.data(), data.size(), (data.size() + 15) / 16 * 16, &sums);
    return sums;
  }

  recorder::cuda::DeviceRing ring_;
  std::optional<recorder::RingReader> reader_;
  std::vector<std::uint64_t*> counters_;
  std::uint64_t next_site_ = 0;
};

/// Whether all ranks can record it.
bool all_record(const GroupCall& c, Group& group) {
  for (std::uint32_t r = 0; r < group.ranks(); ++r) {
    if (!records(group.call_of(c, r), c.mode)) return false;
  }
  return true;
}

/// A random call that all ranks can record, in packets or in steps.
GroupCall recorded_call(host::Random& random, Group& group, bool in_packets) {
  for (;;) {
    const GroupCall c = random_call(random, group, 0, in_packets ? 64 << 10 : 1 << 20);
    const bool packets = c.mode == Mode::packets || c.mode == Mode::shard_packets;
    if (packets == in_packets && all_record(c, group)) return c;
  }
}

TEST_F(PeerRecord, DigestsAreThoseOfTheMemory) {
  host::Random random(host::new_seed());
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    // In steps: of one step or several, long enough for bulk copies or not.
    Group group(ranks, ranks == 8 ? 8 : 4, ranks == 8 ? 4096 : 64 << 10);
    const std::uint64_t operations = std::min<std::uint64_t>(200, times("DETCCL_TEST_OPERATIONS", 200));
    for (std::uint64_t i = 0; i < operations; ++i) {
      const GroupCall c = recorded_call(random, group, i % 2 == 0);
      std::uint64_t bytes = 0;
      for (std::uint32_t r = 0; r < ranks; ++r)
        bytes = std::max({bytes, c.send[r] + c.send_bytes, c.receive[r] + c.receive_bytes});
      std::vector<Bytes> arenas(ranks, Bytes(bytes));
      const std::size_t size = contract::size_of(c.arithmetic.type);
      for (std::uint32_t r = 0; r < ranks; ++r) {
        for (std::uint64_t at = 0; at + size <= c.send_bytes; at += size) {
          const std::uint64_t bits = host::random_element(random, c.arithmetic.type);
          std::memcpy(arenas[r].data() + c.send[r] + at, &bits, size);
        }
        ASSERT_CUDA(cudaMemcpy(group.memory(r), arenas[r].data(), bytes, cudaMemcpyHostToDevice));
      }
      ASSERT_CUDA(cudaDeviceSynchronize());
      std::vector<std::uint64_t> sites;
      const bool all = i % 4 != 0;  // ranks may differ in it
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const recorder::Recording its = recording(r);
        sites.push_back(its.site);
        Call call = group.call_of(c, r);
        if (all || r == 0) call.recording = &its;
        ASSERT_CUDA(reduce(group.endpoint(r), call, c.mode, group.stream(r)));
      }
      for (const Failure failure : group.finish())
        ASSERT_EQ(failure, Failure::none);
      const auto found = records();
      ASSERT_EQ(found.size(), all ? ranks : 1U) << describe(c);
      for (std::uint32_t r = 0; r < (all ? ranks : 1); ++r) {
        ASSERT_EQ(found.count(sites[r]), 1U);
        const recorder::Slot& slot = found.find(sites[r])->second;
        const auto input = arenas[r].begin() + static_cast<std::ptrdiff_t>(c.send[r]);
        const Bytes given(input, input + static_cast<std::ptrdiff_t>(c.send_bytes));
        const Bytes result = receives(c, r) ? expected(c, arenas, r) : Bytes{};
        EXPECT_EQ(slot.input, sums_of(given)) << describe(c) << ", rank " << r;
        EXPECT_EQ(slot.output, sums_of(result)) << describe(c) << ", rank " << r;
      }
    }
  }
}

class PeerRecordOfMode : public PeerRecord, public testing::WithParamInterface<Mode> {};

TEST_P(PeerRecordOfMode, EachReplayIsRecorded) {
  constexpr std::uint32_t kRanks = 3;
  const std::uint64_t replays = times("DETCCL_TEST_REPLAYS", 500);
  Group group(kRanks);
  GroupCall c;
  c.arithmetic = {contract::DataType::float32, contract::Op::sum};
  c.arithmetic.ranks = kRanks;
  c.mode = GetParam();
  c.count = GetParam() == Mode::two_shot ? 100'001 : 1111;
  c.send_bytes = c.receive_bytes = c.count * sizeof(float);
  c.send.assign(kRanks, 0);
  c.receive.assign(kRanks, 0);  // in place: each replay finds other inputs
  const std::vector<float> ones(c.count, 1.0F);
  std::vector<cudaGraphExec_t> graphs(kRanks);
  std::vector<std::uint64_t> sites;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    ASSERT_CUDA(cudaMemcpy(group.memory(r), ones.data(), c.send_bytes, cudaMemcpyHostToDevice));
    const recorder::Recording its = recording(r);
    sites.push_back(its.site);
    Call call = group.call_of(c, r);
    call.recording = &its;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(group.stream(r), cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(reduce(group.endpoint(r), call, c.mode, group.stream(r)));
    ASSERT_CUDA(cudaStreamEndCapture(group.stream(r), &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&graphs[r], graph, 0));
    ASSERT_CUDA(cudaGraphDestroy(graph));
  }
  ASSERT_CUDA(cudaDeviceSynchronize());
  for (std::uint64_t replay = 0; replay < replays; ++replay) {
    for (std::uint32_t r = 0; r < kRanks; ++r)
      ASSERT_CUDA(cudaGraphLaunch(graphs[r], group.stream(r)));
  }
  for (const Failure failure : group.finish())
    ASSERT_EQ(failure, Failure::none);
  const auto found = records();
  for (const std::uint64_t site : sites) {
    ASSERT_EQ(found.count(site), replays);
    std::map<std::uint64_t, recorder::Slot> by_index;
    for (auto [at, end] = found.equal_range(site); at != end; ++at)
      by_index.emplace(at->second.index, at->second);
    ASSERT_EQ(by_index.size(), replays);
    float value = 1.0F;
    for (const auto& [index, slot] : by_index) {
      const auto digest_of = [&](float x) {
        Bytes bytes(c.send_bytes);
        const std::vector<float> values(c.count, x);
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return sums_of(bytes);
      };
      EXPECT_EQ(slot.input, digest_of(value)) << index;
      value += value + value;  // infinity in the end
      EXPECT_EQ(slot.output, digest_of(value)) << index;
    }
  }
  for (const cudaGraphExec_t graph : graphs)
    ASSERT_CUDA(cudaGraphExecDestroy(graph));
}

INSTANTIATE_TEST_SUITE_P(Modes, PeerRecordOfMode,
                         testing::Values(Mode::packets, Mode::shard_packets, Mode::one_shot, Mode::two_shot));

/// Nothing may wait for a record that will not come, not even where its place in the ring has been taken:
/// when the first packets are there.
TEST_F(PeerRecord, AnOperationThatFailsLeavesThePlaceToOthers) {
  struct Case {
    Mode mode;
    std::uint64_t count, of_peer;  ///< elements; the peer's: 0, it does not come
  };
  for (const auto [mode, count, of_peer] :
       {Case{Mode::packets, 8, 0}, Case{Mode::packets, 9000, 0}, Case{Mode::packets, 9000, 8},
        Case{Mode::one_shot, 8, 0}, Case{Mode::two_shot, 100'000, 0}, Case{Mode::two_shot, 9000, 8},
        Case{Mode::two_shot, 100'000, 8}}) {
    Group group(2);
    group.set_timeout(50'000'000);
    Call call;
    call.arithmetic = {contract::DataType::float16, contract::Op::sum};
    call.arithmetic.ranks = 2;
    call.send = call.receive = group.memory(0);
    call.count = count;
    if (of_peer != 0) {
      Call short_one = call;
      short_one.send = short_one.receive = group.memory(1);
      short_one.count = of_peer;
      ASSERT_CUDA(reduce(group.endpoint(1), short_one, mode, group.stream(1)));
    }
    for (int i = 0; i < 2; ++i) {  // the second one ends at once
      const recorder::Recording its = recording(0);
      call.recording = &its;
      ASSERT_CUDA(reduce(group.endpoint(0), call, mode, group.stream(0)));
    }
    EXPECT_EQ(group.finish().front(), Failure::timeout);
    const auto found = records();
    ASSERT_EQ(found.size(), of_peer == 0 ? 0U : 1U);
    if (!found.empty()) {
      EXPECT_EQ(found.begin()->first, recorder::kNoSite);
    }

    Group other(2);
    std::vector<std::uint64_t> sites;
    for (std::uint32_t r = 0; r < 2; ++r) {
      const recorder::Recording its = recording(r);
      sites.push_back(its.site);
      call.send = call.receive = other.memory(r);
      call.recording = &its;
      ASSERT_CUDA(reduce(other.endpoint(r), call, mode, other.stream(r)));
    }
    EXPECT_EQ(other.finish().front(), Failure::none);
    const auto later = records();
    EXPECT_EQ(later.size(), 2U);
    for (const std::uint64_t site : sites)
      EXPECT_EQ(later.count(site), 1U);
  }
}

TEST_F(PeerRecord, OtherCallsAreRefused) {
  Group group(2);
  recorder::Recording its = recording(0);
  Call call;
  call.arithmetic.ranks = 2;
  call.send = call.receive = group.memory(0);
  call.count = 8;
  call.recording = &its;
  call.send = group.memory(0) + 8;  // in steps words are loaded as they are
  EXPECT_EQ(reduce(group.endpoint(0), call, Mode::one_shot, group.stream(0)), cudaErrorInvalidValue);
  call.collective = plan::Collective::reduce_scatter;
  call.count = 3;  // a shard that is no whole number of words
  EXPECT_EQ(reduce(group.endpoint(0), call, Mode::packets, group.stream(0)), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace detccl::device::cuda::peer
