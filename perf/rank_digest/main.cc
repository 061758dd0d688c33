// SPDX-License-Identifier: Apache-2.0
// rank_digest: digests of reductions of the same values, cut over however many ranks there are.
//
// Of 64 values per element rank r of n, a power of two, gives the contract's sum of its own 64/n. Aligned
// blocks are subtrees of the contract `tree`, so the result, and its digest, is the same for every n. Other
// numbers of ranks have one value each. An ordinary NCCL program: `mpirun -n N detccl run -- rank_digest`.
#include <mpi.h>
#include <nccl.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/reference.h"
#include "mpi_job.h"
#include "values.h"

namespace {

using Buffer = std::vector<float>;

constexpr std::uint32_t kValues = 64;
constexpr std::size_t kElements =
    40320;  // shards of every number of ranks up to 10, and of many others, are whole

void check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(result) + " (" +
                             ncclGetLastError(nullptr) + ")");
}

/// The contract's sum of values [first, last) of each element.
Buffer sum_of(std::uint32_t first, std::uint32_t last) {
  using namespace detccl;
  const perf::Values values(contract::DataType::float32, contract::Op::sum, 2432);
  std::vector<Buffer> inputs(last - first, Buffer(kElements));
  std::vector<const void*> pointers;
  for (std::uint32_t i = first; i < last; ++i) {
    values.fill(i, std::as_writable_bytes(std::span(inputs[i - first])));
    pointers.push_back(inputs[i - first].data());
  }
  Buffer sum(kElements);
  contract::reduce(contract::Contract{}, contract::DataType::float32, contract::Op::sum, pointers, sum.data(),
                   kElements);
  return sum;
}

std::uint64_t digest(const Buffer& buffer, std::size_t first_element = 0) {
  return detccl::perf::digest(std::as_bytes(std::span(buffer)), first_element * sizeof(float));
}

class Ranks {
 public:
  Ranks(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    ncclUniqueId id{};
    if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, static_cast<int>(sizeof id), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    check(ncclCommInitRank(&communicator_, ranks, id, rank), "ncclCommInitRank");
    const double own = MPI_Wtime() - start;
    MPI_Allreduce(&own, &creation_seconds_, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  ~Ranks() { ncclCommDestroy(communicator_); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// Until the last rank had its communicator.
  double creation_seconds() const { return creation_seconds_; }

  /// Every rank's own digest of all; `alike` if they are the same.
  std::uint64_t all_reduce(const Buffer& input, bool& alike) const {
    Buffer output(kElements);
    check(ncclAllReduce(input.data(), output.data(), kElements, ncclFloat, ncclSum, communicator_, nullptr),
          "ncclAllReduce");
    const std::uint64_t own = digest(output);
    std::uint64_t least = 0, most = 0;
    MPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    alike = least == most;
    return own;
  }

  /// Of all shards together: their digests' sum.
  std::uint64_t reduce_scatter(const Buffer& input) const {
    const std::size_t shard = kElements / static_cast<std::size_t>(ranks_);
    Buffer output(shard);
    check(ncclReduceScatter(input.data(), output.data(), shard, ncclFloat, ncclSum, communicator_, nullptr),
          "ncclReduceScatter");
    const std::uint64_t own = digest(output, shard * static_cast<std::size_t>(rank_));
    std::uint64_t all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

 private:
  int rank_, ranks_;
  double creation_seconds_ = 0;
  ncclComm_t communicator_ = nullptr;
};

int run(int rank, int ranks) {
  const auto n = static_cast<std::uint32_t>(ranks);
  if (kElements * sizeof(float) / n % sizeof(std::uint64_t) != 0 || kElements % n != 0)
    throw std::runtime_error("40320 elements have no shards of whole 8 bytes for so many ranks");
  const bool shared = std::has_single_bit(n) && n <= kValues;
  const std::uint32_t values = shared ? kValues : n, each = values / n;
  const auto first = static_cast<std::uint32_t>(rank) * each;
  const Buffer input = sum_of(first, first + each);
  bool alike = false;
  std::uint64_t all_reduced = 0, scattered = 0;
  double seconds = 0;
  {
    const Ranks communicator(rank, ranks);
    all_reduced = communicator.all_reduce(input, alike);
    scattered = communicator.reduce_scatter(input);
    seconds = communicator.creation_seconds();
  }
  if (rank != 0) return 0;
  const std::uint64_t expected = digest(sum_of(0, values));
  const bool right = alike && all_reduced == expected && scattered == expected;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(all_reduced));
  const char* schedule = std::getenv("DETCCL_SCHEDULE");
  const nlohmann::ordered_json line = {{"ranks", n},
                                       {"values", values},
                                       {"schedule", schedule != nullptr ? schedule : "auto"},
                                       {"digest", text},
                                       {"ranks_agree", alike},
                                       {"all_reduce_is_reduce_scatter", all_reduced == scattered},
                                       {"equal_to_reference", right},
                                       {"creation_seconds", seconds}};
  std::puts(line.dump().c_str());
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Digests of an AllReduce and a ReduceScatter of the same values over any number of ranks, as JSON");
  app.footer("Exit status: 0; 1 if the bits are not the contract's; 2 for bad usage or what could not run.");
  CLI11_PARSE(app, argc, argv);
  detccl::perf::MpiJob job(argc, argv);
  try {
    return run(job.rank(), job.ranks());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank_digest: rank %d: %s\n", job.rank(), error.what());
    job.abort();
  }
}
