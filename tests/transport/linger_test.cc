// SPDX-License-Identifier: Apache-2.0
#include "transport/linger.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace {

using detccl::transport::Departure;
using detccl::transport::Linger;

struct Seen {
  std::atomic<int> looks{0};
  std::atomic<bool> takes_signals{true};
};

/// Over at the third look, the second and third of which are the thread's.
class ThirdLook : public Departure {
 public:
  ThirdLook(Seen& seen, std::thread::id caller) : seen_(seen), caller_(caller) {}
  bool progress() override {
    if (std::this_thread::get_id() != caller_) {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      seen_.takes_signals = sigismember(&mask, SIGTERM) == 0 || sigismember(&mask, SIGUSR1) == 0;
    }
    return ++seen_.looks >= 3;
  }

 private:
  Seen& seen_;
  std::thread::id caller_;
};

TEST(Linger, ItsThreadTakesNoSignals) {
  Seen seen;
  Linger linger;
  linger.add(std::make_unique<ThirdLook>(seen, std::this_thread::get_id()));
  linger.drain(std::chrono::seconds(60));
  EXPECT_EQ(seen.looks, 3);
  EXPECT_FALSE(seen.takes_signals);
}

}  // namespace
