// SPDX-License-Identifier: Apache-2.0
// trace_generator: traces of an imagined run of any size, to measure `detccl trace diff` with.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>

#include "trace/folder.h"
#include "trace/seal.h"
#include "trace_generator/synthetic_run.h"

namespace {

struct Options {
  std::string folder;
  detccl::perf::Shape shape{2432, 800, 20, 8, 0};
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> differ_rank;
  std::uint64_t differ_operation = 0;
  bool seal = false;
};

std::string generate(const Options& options, std::uint32_t rank) {
  auto records = detccl::perf::operations_of(options.shape, rank);
  detccl::perf::fill_digests(records, rank, options.seed);
  if (options.differ_rank == rank) records.at(options.differ_operation).output.low ^= 1;
  const std::string path = detccl::perf::write_rank(options.folder, options.shape, rank, records);
  detccl::trace::Sealed sealed;
  std::string error;
  if (options.seal && !detccl::trace::seal(path, sealed, error)) return error;
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the traces of an imagined run", "trace_generator");
  Options options;
  app.add_option("folder", options.folder, "Where the files go")->required();
  app.add_option("--ranks", options.shape.ranks, "A multiple of 8")->capture_default_str();
  app.add_option("--steps", options.shape.steps)->capture_default_str();
  app.add_option("--operations", options.shape.operations, "A step")->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--differ-rank", options.differ_rank, "Flip one bit of an output digest of this rank");
  app.add_option("--differ-operation", options.differ_operation, "… of this operation, counted from 0");
  app.add_flag("--seal", options.seal, "Pack the files, as `detccl trace seal` does");
  CLI11_PARSE(app, argc, argv);
  std::string failure;
  std::mutex mutex;
  detccl::trace::in_parallel(options.shape.ranks, [&](std::size_t rank) {
    std::string error;
    try {
      error = generate(options, static_cast<std::uint32_t>(rank));
    } catch (const std::exception& e) {
      error = e.what();
    }
    const std::scoped_lock lock(mutex);
    if (!error.empty()) failure = error;
  });
  if (!failure.empty()) std::cerr << "trace_generator: " << failure << '\n';
  return failure.empty() ? 0 : 1;
}
