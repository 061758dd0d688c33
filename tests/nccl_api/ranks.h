// SPDX-License-Identifier: Apache-2.0
// Runs a function as n ranks, each a forked process, under a watchdog. The test's own process must not have
// called NCCL before.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace detccl::test {

using Variables = std::map<std::string, std::string>;

/// What all ranks see.
struct SharedState;

/// One rank's view. Everything here throws std::runtime_error on failure, which ends the rank as failed.
class Rank {
 public:
  Rank(SharedState& shared, int rank, int size) : shared_(shared), rank_(rank), size_(size) {}

  int rank() const { return rank_; }
  int size() const { return size_; }

  void barrier();

  /// The k-th unique id of this run, made by rank 0; k < 16. All ranks must ask for it.
  ncclUniqueId unique_id(int k = 0);
  /// A blocking communicator of all ranks.
  ncclComm_t communicator(int k = 0);

  /// `bytes` of memory that all ranks and the test see, the same for all; at most 8 MiB.
  std::byte* memory() const;

 private:
  SharedState& shared_;
  int rank_, size_;
};

void require(bool condition, const std::string& what);
/// That `code` is `wanted`.
void require(ncclResult_t code, ncclResult_t wanted, const std::string& what);

struct RunOptions {
  Variables environment;                                ///< of every rank, beside those the harness sets
  std::function<Variables(int rank)> rank_environment;  ///< of one
  int seconds = 240;                                    ///< of the watchdog
};

struct RunResult {
  std::vector<std::string> failures;  ///< by rank; empty where the rank's function returned
  std::vector<int> killed_by;         ///< by rank: a signal, or 0
  bool timed_out = false;
  std::string error_output;       ///< standard error of all ranks
  std::vector<std::byte> memory;  ///< what the ranks left in memory(): its first 64 KiB
  double seconds = 0;

  bool ok() const;
  std::string report() const;
};

RunResult run_ranks(int ranks, const RunOptions& options, const std::function<void(Rank&)>& body);

/// Random numbers: splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

/// From the environment variable TEST_SEED, else from the clock; printed.
std::uint64_t fresh_seed();

}  // namespace detccl::test
