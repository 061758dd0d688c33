// SPDX-License-Identifier: Apache-2.0
// The protocol of reductions over peer memory, with two threads for each block of each rank: sums of
// integers, in regions that are really overwritten. Under ThreadSanitizer a slot that is written while
// somebody may still read it is a data race.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device/cuda/peer/layout.h"
#include "device/cuda/peer/partition.h"
#include "device/cuda/peer/steps.h"
#include "random_values.h"

namespace detccl::device::cuda::peer {
namespace {

using host::below;

/// What the ranks do together.
struct Operation {
  Mode mode = Mode::two_shot;
  bool scattered = false;
  std::uint32_t root = 0;
  bool all_receive = true;  ///< else the root only
  bool in_place = false;
  bool direct = true;  ///< own results go straight to the output, else by the region
  std::uint64_t total = 0;
  Partition partition = {};
};

using Region = std::vector<std::byte>;

/// What stands for the digests of a rank's input and output: each byte times its number, added up.
struct Digests {
  std::atomic<std::uint64_t> input = 0, output = 0;
};

std::uint64_t add_up(const std::byte* from, std::uint64_t first, std::uint64_t bytes) {
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < bytes; ++k)
    sum += (first + k + 1) * static_cast<std::uint64_t>(from[k]);
  return sum;
}

/// A block of one rank, as one of the kernel's teams has it: the message's bytes are added up modulo 256.
class HostBlock {
 public:
  HostBlock(const Layout& layout, std::vector<Region>& regions, std::uint32_t rank, std::uint32_t block)
      : layout_(layout), regions_(regions), rank_(rank), block_(block) {}

  void begin(const Operation& operation, const std::byte* send, std::byte* receive, Digests& digests) {
    o_ = &operation;
    send_ = send;
    receive_ = receive;
    digests_ = &digests;
  }
  std::uint64_t before = 0;

  bool wait(Flag flag, std::uint64_t step) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(240);
    for (std::uint32_t from = 0; from < layout_.ranks; ++from) {
      while (flag_at(rank_, flag, from).load(std::memory_order_acquire) < step) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
      }
    }
    return true;
  }
  void raise(Flag flag, std::uint64_t step) {
    for (std::uint32_t to = 0; to < layout_.ranks; ++to) {
      flag_at(to, flag, rank_).store(step, std::memory_order_release);
    }
  }
  void offer(std::uint32_t i, std::uint64_t step) {
    for (std::uint32_t owner = 0; owner < layout_.ranks; ++owner) {
      if (!two_shot() && !o_->all_receive && owner != o_->root) continue;
      const Range range = o_->partition.range(two_shot() ? owner : 0, block_, i);
      if (range.bytes != 0)
        std::memcpy(at(owner, layout_.raw(block_, step, rank_)), send_ + range.begin, range.bytes);
    }
  }
  void digest_input(std::uint32_t i) {
    for (std::uint32_t owner = 0; owner < (two_shot() ? layout_.ranks : 1); ++owner) {
      const Range range = o_->partition.range(owner, block_, i);
      digests_->input += add_up(send_ + range.begin, range.begin, range.bytes);
    }
  }
  void fold(std::uint32_t i, std::uint64_t step) {
    const Range range = o_->partition.range(two_shot() ? rank_ : 0, block_, i);
    if (!two_shot() && receive_ == nullptr) return;
    std::vector<std::byte> sum(range.bytes);
    for (std::uint32_t from = 0; from < layout_.ranks; ++from) {
      const std::byte* const x = at(rank_, layout_.raw(block_, step, from));
      for (std::uint64_t k = 0; k < range.bytes; ++k)
        sum[k] = static_cast<std::byte>(static_cast<unsigned>(sum[k]) + static_cast<unsigned>(x[k]));
    }
    for (std::uint32_t to = 0; to < layout_.ranks; ++to) {
      const bool elsewhere = two_shot() && !o_->scattered && (o_->all_receive || to == o_->root);
      if (sum.empty() || (to == rank_ ? receive_ == nullptr : !elsewhere)) continue;
      std::byte* const there = at(to, layout_.results(block_, step, rank_));
      std::memcpy(to == rank_ && o_->direct ? output(range) : there, sum.data(), sum.size());
    }
  }
  void digest_results(std::uint32_t i) {
    if (receive_ != nullptr && o_->direct)
      digest_output(o_->partition.range(two_shot() ? rank_ : 0, block_, i));
  }
  bool collects(std::uint32_t) const {
    return receive_ != nullptr && (!o_->direct || (two_shot() && !o_->scattered));
  }
  void collect(std::uint32_t i, std::uint64_t step) {
    for (std::uint32_t owner = 0; owner < layout_.ranks; ++owner) {
      if (owner == rank_ ? o_->direct : !two_shot() || o_->scattered) continue;
      const Range range = o_->partition.range(two_shot() ? owner : 0, block_, i);
      if (range.bytes == 0) continue;
      std::memcpy(output(range), at(rank_, layout_.results(block_, step, owner)), range.bytes);
      digest_output(range);
    }
  }

 private:
  bool two_shot() const { return o_->mode == Mode::two_shot; }
  std::uint64_t start() const { return o_->scattered ? rank_ * o_->partition.shard : 0; }
  std::byte* output(const Range& range) const { return receive_ + (range.begin - start()); }
  void digest_output(const Range& range) {
    if (range.bytes != 0) digests_->output += add_up(output(range), range.begin - start(), range.bytes);
  }
  std::byte* at(std::uint32_t rank, std::uint64_t offset) { return regions_[rank].data() + offset; }
  std::atomic_ref<std::uint64_t> flag_at(std::uint32_t rank, Flag flag, std::uint32_t from) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at(rank, layout_.flag(flag, block_, from))));
  }

  const Layout layout_;
  std::vector<Region>& regions_;
  const std::uint32_t rank_, block_;
  const Operation* o_ = nullptr;
  const std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  Digests* digests_ = nullptr;
};

Operation random_operation(host::Random& random, const Layout& layout) {
  Operation o;
  o.mode = below(random, 3) == 0 ? Mode::one_shot : Mode::two_shot;
  const std::size_t kind = below(random, 3);
  o.scattered = kind == 0 && o.mode == Mode::two_shot;
  o.all_receive = kind != 1;
  o.root = static_cast<std::uint32_t>(below(random, layout.ranks));
  o.in_place = below(random, 2) == 0;
  o.direct = below(random, 3) != 0;
  o.total = 1 + below(random, std::size_t{1} << below(random, 18));
  if (o.scattered) o.total = (o.total + layout.ranks - 1) / layout.ranks * layout.ranks;
  o.partition = partition(o.mode, o.total, o.scattered, layout);
  return o;
}

/// A rank's blocks go through an operation together, as a kernel's do: all begin after all have ended the one
/// before. They are not in step with other ranks'.
class KernelBoundary {
 public:
  explicit KernelBoundary(std::uint32_t blocks) : blocks_(blocks) {}
  void arrive() {
    const std::uint64_t round = arrived_.fetch_add(1, std::memory_order_acq_rel) / blocks_;
    while (arrived_.load(std::memory_order_acquire) < (round + 1) * blocks_)
      std::this_thread::yield();
  }

 private:
  const std::uint32_t blocks_;
  std::atomic<std::uint64_t> arrived_ = 0;
};

void run_operations(std::uint32_t ranks, host::Random& random) {
  const Layout layout{ranks, 2, 256};
  std::vector<Region> regions(ranks, Region(layout.bytes()));
  std::vector<Operation> operations;
  for (int i = 0; i < 40; ++i)
    operations.push_back(random_operation(random, layout));
  // Every rank's message of operation o is the same random bytes, shifted by the rank's number.
  std::vector<std::byte> message(std::size_t{1} << 18);
  for (std::byte& b : message)
    b = static_cast<std::byte>(random());
  const auto value = [&](std::uint64_t i, std::uint32_t rank) {
    return message[(i + rank * 37) % message.size()];
  };
  std::vector<std::vector<std::vector<std::byte>>> outputs(ranks), inputs(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (const Operation& o : operations) {
      outputs[r].emplace_back(o.scattered ? o.total / ranks : o.total);
      inputs[r].emplace_back(o.total);
      for (std::uint64_t i = 0; i < o.total; ++i)
        inputs[r].back()[i] = value(i, r);
    }
  }
  // What was given is kept, for in place it is overwritten.
  const auto given = inputs;
  std::vector<std::vector<Digests>> digests(ranks);
  for (auto& of_rank : digests)
    of_rank = std::vector<Digests>(operations.size());
  const auto place_of_output = [&](std::uint32_t r, std::size_t i) {
    if (!operations[i].in_place) return outputs[r][i].data();
    return inputs[r][i].data() + (operations[i].scattered ? r * (operations[i].total / ranks) : 0);
  };
  std::vector<std::unique_ptr<KernelBoundary>> boundaries;
  for (std::uint32_t r = 0; r < ranks; ++r)
    boundaries.push_back(std::make_unique<KernelBoundary>(2 * layout.blocks));
  std::atomic<bool> complete = true;
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t team = 0; team < 2 * layout.blocks; ++team) {
      threads.emplace_back([&, r, b = team / 2, copies = team % 2 == 0] {
        HostBlock block(layout, regions, r, b);
        for (std::size_t i = 0; i < operations.size(); ++i) {
          const Operation& o = operations[i];
          const bool receives = o.scattered || o.all_receive || o.root == r;
          if (b < o.partition.blocks) {
            block.begin(o, inputs[r][i].data(), receives ? place_of_output(r, i) : nullptr, digests[r][i]);
            const std::uint32_t steps = o.partition.steps(b);
            const bool alone = steps == 1;
            if (alone && copies && !run_alone(block, block.before)) complete = false;
            if (!alone && copies && !run_copies(block, block.before, steps)) complete = false;
            if (!alone && !copies && !run_folds(block, block.before, steps)) complete = false;
            block.before += steps;
          }
          boundaries[r]->arrive();
        }
      });
    }
  }
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_TRUE(complete) << "a wait was given up";
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& o = operations[i];
      EXPECT_EQ(digests[r][i].input, add_up(given[r][i].data(), 0, o.total)) << "operation " << i;
      if (!o.scattered && !o.all_receive && o.root != r) {
        EXPECT_EQ(digests[r][i].output, 0U);
        continue;
      }
      const std::byte* const output = place_of_output(r, i);
      EXPECT_EQ(digests[r][i].output, add_up(output, 0, outputs[r][i].size())) << "operation " << i;
      const std::uint64_t start = o.scattered ? r * (o.total / ranks) : 0;
      for (std::uint64_t k = 0; k < outputs[r][i].size(); ++k) {
        unsigned sum = 0;
        for (std::uint32_t from = 0; from < ranks; ++from)
          sum += static_cast<unsigned>(value(start + k, from));
        ASSERT_EQ(output[k], static_cast<std::byte>(sum)) << "operation " << i << " of rank " << r;
      }
    }
  }
}

TEST(PeerSteps, RandomOperationsOfThreadsAreWholeAndRaceFree) {
  host::Random random(host::new_seed());
  for (std::uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks) {
    run_operations(ranks, random);
    if (HasFatalFailure()) return;
  }
}

TEST(PeerSteps, PartitionsCoverEveryByteOnce) {
  host::Random random(host::new_seed());
  for (int round = 0; round < 3000; ++round) {
    const Layout layout{static_cast<std::uint32_t>(2 + below(random, 7)),
                        static_cast<std::uint32_t>(1 + below(random, 16)),
                        static_cast<std::uint32_t>(16 * (1 + below(random, 300)))};
    const Operation o = random_operation(random, layout);
    std::vector<int> covered(o.total);
    const std::uint32_t shards = o.mode == Mode::two_shot ? layout.ranks : 1;
    ASSERT_LE(o.partition.piece, layout.piece);
    for (std::uint32_t owner = 0; owner < shards; ++owner) {
      for (std::uint32_t b = 0; b < o.partition.blocks; ++b) {
        ASSERT_GE(o.partition.steps(b), 1U);
        for (std::uint32_t i = 0; i < o.partition.steps(b); ++i) {
          const Range range = o.partition.range(owner, b, i);
          if (!o.scattered) {
            ASSERT_EQ(range.begin % 16, 0U);
          }
          for (std::uint64_t k = range.begin; k < range.begin + range.bytes; ++k)
            ++covered.at(k);
        }
      }
    }
    ASSERT_EQ(std::count(covered.begin(), covered.end(), 1), static_cast<std::ptrdiff_t>(o.total));
  }
}

}  // namespace
}  // namespace detccl::device::cuda::peer
