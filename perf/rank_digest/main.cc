// SPDX-License-Identifier: Apache-2.0
// rank_digest: digests of reductions of the same values, cut over however many ranks there are.
//
// Of `--values` values per element, a power of two, rank r of n, a power of two no larger, gives the
// contract's sum of its own values/n. Aligned blocks are subtrees of the contract `tree`, so the result, and
// its digest, is the same for every such n. Other numbers of ranks have one value each. An ordinary NCCL
// program: `mpirun -n N detccl run -- rank_digest`.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contract/reference.h"
#include "mpi_job.h"
#include "rank_digest/cost.h"
#include "rank_digest/ranks.h"
#include "values.h"

namespace {

using detccl::perf::rank_digest::Ranks;
using detccl::perf::rank_digest::Spent;
using Json = nlohmann::ordered_json;

using Buffer = std::vector<float>;

struct Options {
  std::uint32_t values = 256;
  std::uint64_t bytes = 1024;
  int calls = 20;
  bool cost_only = false;
};

/// The least multiple of 2n from 43,008 on: shards are of whole 8 bytes, as digests of pieces need. 43,008 is
/// 2^11 x 21, which all powers of two up to 1024 have in common.
std::size_t elements_for(std::uint32_t ranks) {
  const std::size_t unit = std::size_t{2} * ranks;
  return (43008 + unit - 1) / unit * unit;
}

/// The contract's sum of values [first, last) of each element.
Buffer sum_of(std::uint32_t first, std::uint32_t last, std::size_t elements) {
  using namespace detccl;
  const perf::Values values(contract::DataType::float32, contract::Op::sum, 2432);
  std::vector<Buffer> inputs(last - first, Buffer(elements));
  std::vector<const void*> pointers;
  for (std::uint32_t i = first; i < last; ++i) {
    values.fill(i, std::as_writable_bytes(std::span(inputs[i - first])));
    pointers.push_back(inputs[i - first].data());
  }
  Buffer sum(elements);
  contract::reduce(contract::Contract{}, contract::DataType::float32, contract::Op::sum, pointers, sum.data(),
                   elements);
  return sum;
}

/// Of all ranks together.
std::uint64_t total_memory_kb() {
  const std::uint64_t own = detccl::perf::rank_digest::memory_kb();
  std::uint64_t all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// What holds for any NCCL, DetCCL or not.
Json cost_of(const Options& o, const Ranks& communicator) {
  Json line = {{"creation_seconds", communicator.creation().seconds},
               {"creation_processor_seconds", communicator.creation().processor_seconds}};
  if (o.calls == 0) return line;
  const Spent call = communicator.call(o.bytes, o.calls);
  line["call_bytes"] = o.bytes;
  line["call_us"] = call.seconds * 1e6;
  line["call_processor_us"] = call.processor_seconds * 1e6;
  return line;
}

/// The digests, on rank 0 also whether they are right.
Json digests_of(const Options& o, int rank, std::uint32_t n, const Ranks& communicator) {
  const bool shared = std::has_single_bit(n) && n <= o.values;
  const std::uint32_t values = shared ? o.values : n, each = values / n;
  const std::size_t elements = elements_for(n);
  const auto first = static_cast<std::uint32_t>(rank) * each;
  const Buffer input = sum_of(first, first + each, elements);
  bool alike = false;
  const std::uint64_t all_reduced = communicator.all_reduce(input, alike);
  const std::uint64_t scattered = communicator.reduce_scatter(input);
  if (rank != 0) return Json::object();
  const Buffer sum = sum_of(0, values, elements);
  const std::uint64_t expected = detccl::perf::digest(std::as_bytes(std::span(sum)), 0);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(all_reduced));
  return {{"values", values},
          {"elements", elements},
          {"digest", text},
          {"ranks_agree", alike},
          {"all_reduce_is_reduce_scatter", all_reduced == scattered},
          {"equal_to_reference", alike && all_reduced == expected && scattered == expected}};
}

int run(const Options& o, int rank, int ranks) {
  const char* schedule = std::getenv("DETCCL_SCHEDULE");
  Json line = {{"ranks", ranks}, {"schedule", schedule != nullptr ? schedule : "auto"}};
  bool right = true;
  {
    line["memory_before_kb"] = total_memory_kb();
    const Ranks communicator(rank, ranks);
    line.update(cost_of(o, communicator));
    line["memory_kb"] = total_memory_kb();
    if (!o.cost_only) {
      line.update(digests_of(o, rank, static_cast<std::uint32_t>(ranks), communicator));
      right = line.value("equal_to_reference", true);
    }
  }
  if (rank == 0) std::puts(line.dump().c_str());
  return right ? 0 : 1;
}

std::string power_of_two(const std::string& text) {
  const bool digits = !text.empty() && text.size() < 7 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && std::has_single_bit(std::stoul(text)) ? "" : "not a power of two: " + text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Digests of an AllReduce and a ReduceScatter of the same values over any number of ranks, as JSON, and "
      "what\n"
      "the communicator and small calls took");
  Options o;
  app.add_option("--values", o.values,
                 "per element, a power of two: so many ranks or a smaller power of two have one digest")
      ->check(power_of_two)
      ->capture_default_str();
  app.add_option("--bytes", o.bytes, "of the calls that are timed")
      ->check(CLI::Range(4, 1 << 30))
      ->capture_default_str();
  app.add_option("--calls", o.calls, "to time; 0: none")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--cost-only", o.cost_only, "no digests");
  app.footer("Exit status: 0; 1 if the bits are not the contract's; 2 for bad usage or what could not run.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  detccl::perf::MpiJob job(argc, argv);
  try {
    return run(o, job.rank(), job.ranks());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank_digest: rank %d: %s\n", job.rank(), error.what());
    job.abort();
  }
}
