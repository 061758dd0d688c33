// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/ranks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace detccl::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMemory = 8u << 20;
constexpr std::size_t kKept = 64u << 10;
constexpr int kMaxRanks = 16;
constexpr int kFailed = 1;

void nap() {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
}

}  // namespace

struct SharedState {
  std::atomic<int> arrived{0}, generation{0};
  std::array<ncclUniqueId, 16> ids{};
  std::array<std::atomic<bool>, 16> id_ready{};
  std::array<std::array<char, 1024>, kMaxRanks> failures{};
  alignas(64) std::array<std::byte, kMemory> memory{};
};

namespace {

SharedState* map_shared() {
  void* memory =
      mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
  return new (memory) SharedState;
}

void set_environment(const RunOptions& options, int rank) {
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  setenv("DETCCL_NCCL_LIBRARY", DETCCL_TEST_HOSTNCCL, 1);
  Variables all = options.environment;
  if (options.rank_environment) {
    for (const auto& [name, value] : options.rank_environment(rank))
      all[name] = value;
  }
  for (const auto& [name, value] : all)
    setenv(name.c_str(), value.c_str(), 1);
}

[[noreturn]] void be_rank(SharedState& shared, int rank, int size, const RunOptions& options, int errors,
                          const std::function<void(Rank&)>& body) {
  dup2(errors, STDERR_FILENO);
  set_environment(options, rank);
  int status = 0;
  try {
    Rank self(shared, rank, size);
    body(self);
  } catch (const std::exception& e) {
    auto& text = shared.failures[static_cast<std::size_t>(rank)];
    std::snprintf(text.data(), text.size(), "%s", e.what());
    status = kFailed;
  }
  std::exit(status);  // with the exit handlers: they are part of what is tested
}

std::string read_all(int file) {
  std::string all;
  lseek(file, 0, SEEK_SET);
  std::array<char, 4096> buffer{};
  for (ssize_t got = read(file, buffer.data(), buffer.size()); got > 0;
       got = read(file, buffer.data(), buffer.size()))
    all.append(buffer.data(), static_cast<std::size_t>(got));
  return all;
}

/// Waits for all children; after `limit` those that are left are killed.
void wait_for_all(std::vector<pid_t> children, Clock::time_point limit, RunResult& result) {
  std::size_t left = children.size();
  while (left > 0) {
    for (std::size_t rank = 0; rank < children.size(); ++rank) {
      int status = 0;
      if (children[rank] == 0 || waitpid(children[rank], &status, WNOHANG) == 0) continue;
      children[rank] = 0;
      --left;
      if (WIFSIGNALED(status)) result.killed_by[rank] = WTERMSIG(status);
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        result.failures[rank] = "exit status " + std::to_string(WEXITSTATUS(status));
    }
    if (!result.timed_out && Clock::now() > limit) {
      result.timed_out = true;
      for (const pid_t child : children) {
        if (child != 0) kill(child, SIGKILL);
      }
    }
    nap();
  }
}

}  // namespace

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void require(ncclResult_t code, ncclResult_t wanted, const std::string& what) {
  if (code == wanted) return;
  throw std::runtime_error(what + " gives " + std::to_string(code) + " instead of " + std::to_string(wanted) +
                           ": " + ncclGetLastError(nullptr));
}

void Rank::barrier() {
  const int generation = shared_.generation;
  if (++shared_.arrived == size_) {
    shared_.arrived = 0;
    ++shared_.generation;
  } else {
    while (shared_.generation == generation)
      nap();
  }
}

ncclUniqueId Rank::unique_id(int k) {
  const auto index = static_cast<std::size_t>(k);
  if (rank_ == 0 && !shared_.id_ready[index]) {
    require(ncclGetUniqueId(&shared_.ids[index]), ncclSuccess, "ncclGetUniqueId");
    shared_.id_ready[index] = true;
  }
  while (!shared_.id_ready[index])
    nap();
  return shared_.ids[index];
}

ncclComm_t Rank::communicator(int k) {
  ncclComm_t comm = nullptr;
  require(ncclCommInitRank(&comm, size_, unique_id(k), rank_), ncclSuccess, "ncclCommInitRank");
  return comm;
}

std::byte* Rank::memory() const {
  return shared_.memory.data();
}

bool RunResult::ok() const {
  return !timed_out &&
         std::all_of(failures.begin(), failures.end(), [](const auto& f) { return f.empty(); }) &&
         std::all_of(killed_by.begin(), killed_by.end(), [](int s) { return s == 0; });
}

std::string RunResult::report() const {
  std::string text = timed_out ? "stopped by the watchdog\n" : "";
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    if (!failures[rank].empty()) text += "rank " + std::to_string(rank) + ": " + failures[rank] + "\n";
    if (killed_by[rank] != 0)
      text += "rank " + std::to_string(rank) + ": signal " + std::to_string(killed_by[rank]) + "\n";
  }
  return text + error_output;
}

RunResult run_ranks(int ranks, const RunOptions& options, const std::function<void(Rank&)>& body) {
  RunResult result;
  result.failures.resize(static_cast<std::size_t>(ranks));
  result.killed_by.resize(static_cast<std::size_t>(ranks));
  SharedState* shared = map_shared();
  const int errors = memfd_create("errors", 0);
  std::fflush(nullptr);
  const Clock::time_point start = Clock::now();
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) be_rank(*shared, rank, ranks, options, errors, body);
    children.push_back(child);
  }
  wait_for_all(children, start + std::chrono::seconds(options.seconds), result);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (std::size_t rank = 0; rank < result.failures.size(); ++rank) {
    if (shared->failures[rank][0] != '\0') result.failures[rank] = shared->failures[rank].data();
  }
  result.error_output = read_all(errors);
  result.memory.assign(shared->memory.begin(), shared->memory.begin() + kKept);
  close(errors);
  munmap(shared, sizeof(SharedState));
  return result;
}

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t fresh_seed() {
  const char* given = std::getenv("TEST_SEED");
  const std::uint64_t seed = given != nullptr
                                 ? std::strtoull(given, nullptr, 0)
                                 : static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  std::printf("seed: TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace detccl::test
