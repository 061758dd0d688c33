// SPDX-License-Identifier: Apache-2.0
// Communicators on threads of their own, and proxies on others.
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "nccl_side.h"

namespace detccl::test {
namespace {

/// What a communicator's launches hand to its proxy.
class Queue {
 public:
  void push(void* operation) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(operation);
    }
    ready_.notify_one();
  }
  void* pop() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !queue_.empty(); });
    void* operation = queue_.front();
    queue_.pop_front();
    return operation;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<void*> queue_;
};

template <int V>
void run_communicators() {
  constexpr int kCommunicators = 4, kCalls = 2000;
  Plugin plugin("all");
  std::vector<std::unique_ptr<Nccl<V>>> ranks;
  std::vector<void*> contexts;
  for (int i = 0; i < kCommunicators; ++i) {
    ranks.push_back(std::make_unique<Nccl<V>>(plugin));
    contexts.push_back(ranks.back()->init(static_cast<std::uint64_t>(100 + i), i, kCommunicators));
  }
  const Call call{.gpu_began = 1000, .gpu_nanoseconds = 700};
  std::vector<Queue> queues(kCommunicators);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kCommunicators; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < kCalls; ++n)
        queues[i].push(ranks[i]->launch(contexts[i], call));
      queues[i].push(nullptr);
    });
    threads.emplace_back([&, i] {
      while (void* operation = queues[i].pop())
        ranks[i]->progress(contexts[i], operation, call);
    });
  }
  // Meanwhile others come and go.
  threads.emplace_back([&plugin, call] {
    for (int n = 0; n < 50; ++n) {
      Nccl<V> nccl(plugin);
      void* context = nccl.init(static_cast<std::uint64_t>(1000 + n), 0, 1);
      nccl.all_reduce(context, call);
      nccl.finalize(context);
    }
  });
  for (std::thread& thread : threads)
    thread.join();
  for (std::size_t i = kCommunicators; i > 0; --i)
    ranks[i - 1]->finalize(contexts[i - 1]);
  std::size_t seen = 0;
  for (const auto& s : plugin.read()) {
    if (s.at("classes").at(0).at("count") == 1) continue;
    ++seen;
    EXPECT_EQ(s.at("classes").at(0).at("count"), kCalls);
    EXPECT_EQ(s.at("classes").at(0).at("gpu").at("count"), kCalls);
    EXPECT_EQ(s.at("classes").at(0).at("network").at("count"), kCalls);
  }
  EXPECT_EQ(seen, static_cast<std::size_t>(kCommunicators));
  EXPECT_EQ(plugin.read().size(), static_cast<std::size_t>(kCommunicators + 50));
}

TEST(Threads, Version3) {
  run_communicators<3>();
}
TEST(Threads, Version4) {
  run_communicators<4>();
}
TEST(Threads, Version6) {
  run_communicators<6>();
}

}  // namespace
}  // namespace detccl::test
