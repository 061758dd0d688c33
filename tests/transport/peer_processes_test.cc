// SPDX-License-Identifier: Apache-2.0
// Reductions over peer memory between processes, on one GPU or several: regions mapped by CUDA IPC. Skipped
// where there is no GPU. Where the processes share a GPU without CUDA MPS they take turns on it, and the test
// takes long.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../device/random_values.h"
#include "contract/reference.h"
#include "device/cuda/peer/peer.h"
#include "processes.h"
#include "transport/peer/peer_memory.h"

namespace detccl::device::cuda::peer {
namespace {

using host::below;
using plan::Collective;
using test::Process;
using transport::PeerCard;
using transport::PeerMemory;

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class PeerProcesses : public testing::Test {
 protected:
  void SetUp() override {
    // CUDA must not be used before the processes are forked.
    if (access("/dev/nvidiactl", F_OK) != 0) GTEST_SKIP() << "no GPU here";
  }
};

/// One operation; the same on every rank.
struct Operation {
  Call call;
  Mode mode = Mode::two_shot;
  std::uint64_t seed = 0;
};

Operation random_operation(host::Random& random, const Layout& layout) {
  Operation o;
  constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                         Collective::reduce};
  constexpr contract::DataType kTypes[] = {contract::DataType::bfloat16, contract::DataType::float32,
                                           contract::DataType::float8e5m2, contract::DataType::float64};
  constexpr contract::Op kOps[] = {contract::Op::sum, contract::Op::avg, contract::Op::max};
  o.call.collective = kCollectives[below(random, 3)];
  o.call.arithmetic.type = kTypes[below(random, 4)];
  o.call.arithmetic.op = kOps[below(random, 3)];
  o.call.arithmetic.ranks = layout.ranks;
  o.call.root = static_cast<std::uint32_t>(below(random, layout.ranks));
  o.call.count = 1 + below(random, std::size_t{1} << below(random, 13));
  do {
    o.mode = static_cast<Mode>(below(random, 3));
  } while (!fits(o.call, o.mode, layout));
  o.seed = random();
  return o;
}

std::vector<std::byte> input_of(const Operation& o, std::uint32_t ranks, std::uint32_t rank) {
  host::Random random(o.seed + rank);
  const std::size_t size = contract::size_of(o.call.arithmetic.type);
  const std::uint64_t shards = o.call.collective == Collective::reduce_scatter ? ranks : 1;
  std::vector<std::byte> bytes(o.call.count * shards * size);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::uint64_t bits = host::random_element(random, o.call.arithmetic.type);
    std::memcpy(bytes.data() + at, &bits, size);
  }
  return bytes;
}

std::vector<std::byte> expected(const Operation& o, std::uint32_t ranks, std::uint32_t rank) {
  const Arithmetic& a = o.call.arithmetic;
  std::vector<std::byte> result(o.call.count * contract::size_of(a.type));
  std::vector<std::vector<std::byte>> inputs;
  std::vector<const void*> places;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    inputs.push_back(input_of(o, ranks, r));
    places.push_back(inputs.back().data() +
                     (o.call.collective == Collective::reduce_scatter ? rank * result.size() : 0));
  }
  contract::reduce({a.order, a.accumulate, 0}, a.type, a.op, places, result.data(), o.call.count, a.scalar);
  return result;
}

/// This process's rank of the group.
class Member {
 public:
  explicit Member(const Process& process)
      : process_(process), layout_{process.size(), 4, 4096}, memory_(open()) {
    const std::vector<PeerCard> cards = exchange(memory_.card());
    if (const auto problem = transport::find_problem(cards)) throw std::runtime_error(*problem);
    if (const auto problem = memory_.map(cards, process.rank())) throw std::runtime_error(*problem);
    void* words = nullptr;
    require(cudaHostAlloc(&words, sizeof(HostWords), cudaHostAllocMapped));
    words_ = new (words) HostWords;
    require(cudaMalloc(&buffers_, kBatch * kStride));
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    require(load_kernels());
    endpoint_.layout = layout_;
    endpoint_.rank = process.rank();
    std::copy(memory_.regions().begin(), memory_.regions().end(), endpoint_.regions.begin());
    endpoint_.words = words_;
    process.barrier();
  }

  const Layout& layout() const { return layout_; }
  void set_timeout(std::uint64_t nanoseconds) { endpoint_.timeout = nanoseconds; }

  /// Makes the operations without waiting between them, then compares.
  void run(const std::vector<Operation>& operations) {
    std::byte* const base = static_cast<std::byte*>(buffers_);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const auto input = input_of(operations[i], layout_.ranks, process_.rank());
      require(cudaMemcpy(base + i * kStride, input.data(), input.size(), cudaMemcpyHostToDevice));
    }
    require(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < operations.size(); ++i) {
      Call call = operations[i].call;
      call.send = base + i * kStride;
      call.receive = base + i * kStride + kStride / 4 * 3;
      require(reduce(endpoint_, call, operations[i].mode, stream_));
    }
    require(cudaStreamSynchronize(stream_));
    ASSERT_EQ(failure(), Failure::none);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& o = operations[i];
      if (o.call.collective == Collective::reduce && o.call.root != process_.rank()) continue;
      const auto right = expected(o, layout_.ranks, process_.rank());
      std::vector<std::byte> got(right.size());
      require(
          cudaMemcpy(got.data(), base + i * kStride + kStride / 4 * 3, got.size(), cudaMemcpyDeviceToHost));
      ASSERT_TRUE(got == right) << "operation " << i << " of rank " << process_.rank();
    }
  }
  Failure failure() const {
    return static_cast<Failure>(*reinterpret_cast<volatile std::uint32_t*>(&words_->failure));
  }
  cudaError_t wait() { return cudaStreamSynchronize(stream_); }
  void enqueue(const Operation& o) {
    Call call = o.call;
    call.send = buffers_;
    call.receive = static_cast<std::byte*>(buffers_) + kStride / 4 * 3;
    require(reduce(endpoint_, call, o.mode, stream_));
  }
  void leave() {
    require(drain(endpoint_, stream_));
    require(cudaStreamSynchronize(stream_));
  }

  static constexpr std::size_t kBatch = 24;

 private:
  static constexpr std::size_t kStride = std::size_t{1} << 20;

  PeerMemory open() const {
    int devices = 0;
    require(cudaGetDeviceCount(&devices));
    require(cudaSetDevice(static_cast<int>(process_.rank()) % devices));
    return PeerMemory(7, layout_.bytes());
  }
  std::vector<PeerCard> exchange(const PeerCard& own) const {
    std::vector<PeerCard> cards;
    const auto* const bytes = reinterpret_cast<const char*>(&own);
    for (const std::string& text : process_.all_gather(std::string(bytes, sizeof own))) {
      cards.emplace_back();
      std::memcpy(&cards.back(), text.data(), std::min(text.size(), sizeof(PeerCard)));
    }
    return cards;
  }

  const Process& process_;
  Layout layout_;
  PeerMemory memory_;
  Endpoint endpoint_;
  HostWords* words_ = nullptr;
  void* buffers_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(PeerProcesses, RandomReductionsAreTheReference) {
  const std::uint64_t seed = host::new_seed();
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    test::run_processes(ranks, [seed](const Process& process) {
      Member member(process);
      host::Random random(seed);
      for (int round = 0; round < 5 && !testing::Test::HasFatalFailure(); ++round) {
        std::vector<Operation> operations;
        while (operations.size() < Member::kBatch)
          operations.push_back(random_operation(random, member.layout()));
        member.run(operations);
      }
      member.leave();
      process.barrier();
    });
    if (HasFailure()) return;
  }
}

TEST_F(PeerProcesses, TheDeathOfARankIsATimeoutForTheOthers) {
  test::run_processes(3,
                      [](const Process& process) {
                        Member member(process);
                        member.set_timeout(500'000'000);
                        Operation o;
                        o.call.arithmetic.ranks = 3;
                        o.call.count = 5000;
                        for (int i = 0; i < 10; ++i)
                          member.enqueue(o);
                        require(member.wait());
                        process.barrier();
                        if (process.rank() == 1) process.die();
                        for (int i = 0; i < 3; ++i)
                          member.enqueue(o);
                        // MPS may tell the others of the death by itself.
                        if (member.wait() == cudaSuccess) {
                          EXPECT_EQ(member.failure(), Failure::timeout);
                        }
                      },
                      {.killed = {1}});
}

}  // namespace
}  // namespace detccl::device::cuda::peer
