// SPDX-License-Identifier: Apache-2.0
// Several processes for one test. They are forked, so the test program itself must not have used UCX before:
// everything that does runs inside run_processes(), one process or more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace detccl::test {

/// A forked process's view of the others.
class Process {
 public:
  Process(std::uint32_t rank, std::uint32_t size, int to_parent, int from_parent)
      : rank_(rank), size_(size), to_parent_(to_parent), from_parent_(from_parent) {}

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }

  /// Everyone's text, by rank. A barrier too. Every process that is still there must call it.
  std::vector<std::string> all_gather(const std::string& own) const;
  void barrier() const { all_gather({}); }

  /// Ends this process as kill -9 does. The others' later all_gathers go without it.
  [[noreturn]] void die() const;

 private:
  std::uint32_t rank_, size_;
  int to_parent_, from_parent_;
};

struct Options {
  std::chrono::seconds limit{240};         ///< then all are killed and the test fails
  std::vector<std::uint32_t> killed = {};  ///< ranks that are expected to die()
};

/// Forks `size` processes, runs `body` in each, waits for them. A process fails the test when gtest
/// assertions fail in it, when it throws, when it ends in another way than expected, or when time runs out.
void run_processes(std::uint32_t size, const std::function<void(const Process&)>& body,
                   const Options& options = {});

}  // namespace detccl::test
