// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "processes.h"
#include "transport/ucx/ucx_exchange.h"

namespace detccl::transport {
namespace {

using State = Completion::State;
using test::Process;
using test::run_processes;

std::unique_ptr<Exchange> connect(const Process& process) {
  auto worker = std::make_unique<UcxWorker>();
  auto addresses = process.all_gather(worker->address());
  return UcxWorker::connect(std::move(worker), process.rank(), std::move(addresses));
}

void wait(Exchange& exchange, const Completion& completion) {
  while (completion.state.load(std::memory_order_acquire) == State::pending)
    exchange.progress();
}

struct Message {
  std::uint32_t from, to;
  std::uint64_t tag;
  std::size_t bytes;
};

/// The same on every rank.
std::vector<Message> random_messages(std::mt19937& random, std::uint32_t ranks, int per_pair) {
  const std::array<std::size_t, 6> limits = {1, 100, 9000, 70000, 600000, 8u << 20};
  std::vector<Message> messages;
  for (std::uint32_t from = 0; from < ranks; ++from)
    for (std::uint32_t to = 0; to < ranks; ++to)
      for (int k = 0; from != to && k < per_pair; ++k) {
        const std::size_t limit = limits[random() % (k % 10 == 0 ? 6 : 5)];
        const std::uint64_t tag =
            static_cast<std::uint64_t>(random() & 0xffffff) << 24 | static_cast<unsigned>(k);
        messages.push_back({from, to, tag, random() % (limit + 1)});
      }
  return messages;
}

void fill(const Message& m, unsigned char* data) {
  std::uint32_t state = m.from * 31 + m.to * 17 + static_cast<std::uint32_t>(m.tag) + 1;
  for (std::size_t i = 0; i < m.bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = static_cast<unsigned char>(state >> 24);
  }
}

/// All messages between all ranks at once, each side in an order of its own.
void exchange_random(const Process& process, unsigned seed, int per_pair) {
  const auto exchange = connect(process);
  ASSERT_EQ(exchange->rank(), process.rank());
  ASSERT_EQ(exchange->size(), process.size());
  std::mt19937 shared(seed), own(seed + 1 + process.rank());
  std::vector<Message> messages = random_messages(shared, process.size(), per_pair);
  std::erase_if(messages,
                [&](const Message& m) { return m.from != process.rank() && m.to != process.rank(); });
  std::shuffle(messages.begin(), messages.end(), own);
  std::vector<std::vector<unsigned char>> data(messages.size());
  std::vector<Completion> completions(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    data[i].resize(m.bytes);
    if (m.from == process.rank()) {
      fill(m, data[i].data());
      exchange->send(m.to, m.tag, data[i].data(), m.bytes, completions[i]);
    } else {
      exchange->receive(m.from, m.tag, data[i].data(), m.bytes, completions[i]);
    }
    if (own() % 4 == 0) exchange->progress();
  }
  std::vector<unsigned char> expected;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    wait(*exchange, completions[i]);
    EXPECT_EQ(completions[i].state, State::done) << exchange->failure();
    expected.resize(messages[i].bytes);
    fill(messages[i], expected.data());
    EXPECT_TRUE(data[i] == expected) << "message " << i << " of " << messages[i].bytes << " bytes";
  }
  EXPECT_EQ(exchange->failure(), "");
}

class UcxRandom : public testing::TestWithParam<std::uint32_t> {};

TEST_P(UcxRandom, MessagesOfAllSizesArriveWhateverTheOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::printf("seed %u\n", seed);
  run_processes(GetParam(), [seed](const Process& p) { exchange_random(p, seed, 25); });
}

INSTANTIATE_TEST_SUITE_P(Processes, UcxRandom, testing::Values(2, 3, 5));

/// What has been sent arrives, though the sender's exchange, and its process, are gone before it is asked
/// for.
TEST(Ucx, DestroyingASoundExchangeLosesNothing) {
  run_processes(2, [](const Process& process) {
    const std::array<std::size_t, 5> sizes = {0, 8, 3000, 4000, 100};
    constexpr std::size_t kEach = 6;  // few enough for a transport's buffers: nobody takes them yet
    auto exchange = connect(process);
    if (process.rank() == 0) {
      std::vector<std::vector<char>> data;
      std::vector<Completion> completions(sizes.size() * kEach);
      for (std::size_t i = 0; i < completions.size(); ++i) {
        data.emplace_back(sizes[i % sizes.size()], static_cast<char>(i));
        exchange->send(1, i, data[i].data(), data[i].size(), completions[i]);
      }
      for (const Completion& completion : completions)
        wait(*exchange, completion);
      exchange.reset();
      process.barrier();
      return;
    }
    process.barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // rank 0 is gone by now
    for (std::size_t i = 0; i < sizes.size() * kEach; ++i) {
      std::vector<char> data(sizes[i % sizes.size()]);
      Completion completion;
      exchange->receive(0, i, data.data(), data.size(), completion);
      wait(*exchange, completion);
      EXPECT_EQ(completion.state, State::done) << exchange->failure();
      EXPECT_EQ(std::count(data.begin(), data.end(), static_cast<char>(i)),
                static_cast<std::ptrdiff_t>(data.size()));
    }
  });
}

TEST(Ucx, AReceiveOfAnotherSizeFails) {
  run_processes(2, [](const Process& process) {
    const auto exchange = connect(process);
    std::vector<char> data(5000);
    Completion first, second;
    if (process.rank() == 0) {
      exchange->send(1, 1, data.data(), 4000, first);
      exchange->send(1, 2, data.data(), 5000, second);
      wait(*exchange, first);
      wait(*exchange, second);
    } else {
      exchange->receive(0, 1, data.data(), 5000, first);
      exchange->receive(0, 2, data.data(), 4000, second);
      wait(*exchange, first);
      wait(*exchange, second);
      EXPECT_EQ(first.state, State::failed);
      EXPECT_EQ(second.state, State::failed);
      EXPECT_EQ(exchange->failure(), "receive from rank 0: 4000 bytes came instead of 5000");
    }
    process.barrier();
  });
}

/// Workers of one process, each with a thread of its own.
TEST(Ucx, WorkersInThreads) {
  run_processes(1, [](const Process&) {
    constexpr std::uint32_t kRanks = 3;
    std::vector<std::unique_ptr<UcxWorker>> workers;
    std::vector<std::string> addresses;
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      workers.push_back(std::make_unique<UcxWorker>());
      addresses.push_back(workers.back()->address());
    }
    std::atomic<std::uint32_t> finished{0};
    std::atomic<int> wrong{0};
    const auto drive = [&](std::uint32_t rank) {
      const auto exchange = UcxWorker::connect(std::move(workers[rank]), rank, addresses);
      const std::uint32_t next = (rank + 1) % kRanks, previous = (rank + kRanks - 1) % kRanks;
      for (std::uint64_t round = 0; round < 50; ++round) {
        const std::size_t count = round * 997 % 30000;
        const std::vector<std::uint64_t> sent(count, round * kRanks + rank);
        std::vector<std::uint64_t> received(count);
        Completion send, receive;
        exchange->receive(previous, round, received.data(), count * 8, receive);
        exchange->send(next, round, sent.data(), count * 8, send);
        wait(*exchange, receive);
        wait(*exchange, send);
        for (const std::uint64_t value : received)
          wrong += value != round * kRanks + previous;
      }
      ++finished;
      while (finished < kRanks)
        exchange->progress();
    };
    std::vector<std::thread> threads;
    for (std::uint32_t r = 0; r < kRanks; ++r)
      threads.emplace_back(drive, r);
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
  });
}

/// Loading UCX and using it leaves the host program's signal handling as it was, and prints nothing.
TEST(Ucx, LeavesSignalsAndOutputAlone) {
  run_processes(1, [](const Process& process) {
    std::signal(SIGFPE, [](int) {});
    std::vector<void (*)(int)> before, after;
    const auto handlers = [](std::vector<void (*)(int)>& all) {
      for (int signal = 1; signal < 32; ++signal) {
        struct sigaction action {};
        sigaction(signal, nullptr, &action);
        all.push_back(action.sa_handler);
      }
    };
    int output[2];
    ASSERT_EQ(pipe(output), 0);
    const int stdout_before = dup(STDOUT_FILENO), stderr_before = dup(STDERR_FILENO);
    std::fflush(nullptr);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    handlers(before);
    { const auto exchange = connect(process); }
    handlers(after);
    std::fflush(nullptr);
    dup2(stdout_before, STDOUT_FILENO);
    dup2(stderr_before, STDERR_FILENO);
    close(output[1]);
    std::string printed(4096, '\0');
    const ssize_t n = read(output[0], printed.data(), printed.size());
    printed.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    EXPECT_EQ(printed, "");
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(before[i], after[i]) << "signal " << i + 1;
  });
}

/// The context goes with its last worker; another one can be made afterwards.
TEST(Ucx, CanBeUsedAgainAfterTheLastWorker) {
  run_processes(2, [](const Process& process) {
    for (int round = 0; round < 3; ++round) {
      const auto exchange = connect(process);
      const std::uint32_t peer = 1 - process.rank();
      std::vector<int> sent(50000, round), received(50000);
      Completion send, receive;
      exchange->send(peer, 9, sent.data(), 200000, send);
      exchange->receive(peer, 9, received.data(), 200000, receive);
      wait(*exchange, send);
      wait(*exchange, receive);
      EXPECT_EQ(received, sent);
    }
  });
}

}  // namespace
}  // namespace detccl::transport
