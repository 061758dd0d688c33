// SPDX-License-Identifier: Apache-2.0
// A peer dies, or gives up. UCX need not notice; what is left must neither hang nor crash nor be written to.
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

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

/// Everyone sends to and receives from everyone, round after round, until rank 0 dies; the others go on for a
/// moment, as one does who has not been told yet, then abandon.
void lose_rank_0(const Process& process) {
  constexpr std::size_t kBytes = 300000;
  auto exchange = connect(process);
  std::vector<std::vector<char>> sent(process.size(), std::vector<char>(kBytes));
  std::vector<std::vector<char>> received = sent;
  std::vector<Completion> completions(2u * process.size());
  for (const std::size_t own : {0u, 1u})
    completions[2u * process.rank() + own].state = State::done;
  bool stuck = false;
  for (std::uint64_t round = 0; !stuck; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t peer = 0; peer < process.size(); ++peer) {
      if (peer == process.rank()) continue;
      exchange->receive(peer, round, received[peer].data(), kBytes, completions[2 * peer]);
      exchange->send(peer, round, sent[peer].data(), kBytes, completions[2 * peer + 1]);
    }
    if (process.rank() == 0 && round == 5) process.die();
    for (const Completion& completion : completions) {
      while (completion.state.load(std::memory_order_acquire) == State::pending && !stuck) {
        exchange->progress();
        std::this_thread::yield();
        stuck = std::chrono::steady_clock::now() - start > std::chrono::milliseconds(1200);
      }
    }
  }
  if (process.rank() == 0) process.die();  // on a machine so slow that the others seemed to be gone
  exchange->abandon();
  EXPECT_NE(exchange->failure(), "");
  sent.clear();
  received.clear();
  const auto leaving = std::chrono::steady_clock::now();
  exchange.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - leaving, std::chrono::seconds(20));
}

TEST(UcxFailure, SurvivorsOfAKilledPeerGoOnAndCleanUp) {
  run_processes(3, lose_rank_0, {.killed = {0}});
}

TEST(UcxFailure, SurvivorsOfAKilledPeerGoOnAndCleanUpOverTcp) {
  run_processes(3,
                [](const Process& process) {
                  setenv("UCX_TLS", "tcp,self", 1);
                  lose_rank_0(process);
                },
                {.killed = {0}});
}

/// The receiver learns of a large message, and then the sender dies before the data are fetched.
TEST(UcxFailure, FetchingFromADeadProcessIsNoCrash) {
  run_processes(2,
                [](const Process& process) {
                  auto exchange = connect(process);
                  std::vector<char> data(3000000);
                  std::vector<Completion> completions(3);
                  if (process.rank() == 0)
                    for (std::uint64_t i = 0; i < 3; ++i)
                      exchange->send(1, i, data.data() + i * 1000000, 1000000, completions[i]);
                  const auto spin = [&](int milliseconds) {
                    const auto end =
                        std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
                    while (std::chrono::steady_clock::now() < end)
                      exchange->progress();
                  };
                  spin(300);
                  process.barrier();  // the messages are on their way, however late the sender came
                  if (process.rank() == 0) process.die();
                  spin(300);
                  process.barrier();  // the sender is dead
                  for (std::uint64_t i = 0; i < 3; ++i)
                    exchange->receive(0, i, data.data() + i * 1000000, 1000000, completions[i]);
                  spin(300);
                  for (const Completion& completion : completions)
                    EXPECT_NE(completion.state, State::done);
                  EXPECT_NE(exchange->failure(), "");
                  exchange->abandon();
                  data = {};
                },
                {.killed = {0}});
}

/// A peer that was alive when the last operation completed, and is dead when the exchange is destroyed.
TEST(UcxFailure, DestroyingWithoutAbandonAfterAPeerDiedReturns) {
  run_processes(2,
                [](const Process& process) {
                  auto exchange = connect(process);
                  std::vector<char> data(200000);
                  Completion completion;
                  if (process.rank() == 0) {
                    exchange->receive(1, 1, data.data(), data.size(), completion);
                  } else {
                    exchange->send(0, 1, data.data(), data.size(), completion);
                  }
                  while (completion.state.load(std::memory_order_acquire) == State::pending)
                    exchange->progress();
                  if (process.rank() == 0) process.die();
                  process.barrier();  // it is dead
                  const auto leaving = std::chrono::steady_clock::now();
                  exchange.reset();
                  EXPECT_LT(std::chrono::steady_clock::now() - leaving, std::chrono::seconds(20));
                },
                {.killed = {0}});
}

/// After abandon() the buffers are the caller's again, though the peer sends to them.
TEST(UcxFailure, NothingIsWrittenAfterAbandon) {
  run_processes(2, [](const Process& process) {
    auto exchange = connect(process);
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{5000}, std::size_t{1000000}}) {
      std::vector<char> data(bytes, static_cast<char>(process.rank()));
      Completion completion;
      if (process.rank() == 0) {
        exchange->receive(1, bytes, data.data(), bytes, completion);
        if (bytes == 1000000) exchange->abandon();
      } else {
        exchange->send(0, bytes, data.data(), bytes, completion);
      }
      const auto start = std::chrono::steady_clock::now();
      while (completion.state.load(std::memory_order_acquire) == State::pending &&
             std::chrono::steady_clock::now() - start < std::chrono::milliseconds(300))
        exchange->progress();
      if (bytes == 1000000 && process.rank() == 0) {
        EXPECT_EQ(completion.state, State::pending);
        EXPECT_EQ(data, std::vector<char>(bytes, 0));
      }
      process.barrier();
    }
  });
}

}  // namespace
}  // namespace detccl::transport
