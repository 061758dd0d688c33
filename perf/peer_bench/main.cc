// SPDX-License-Identifier: Apache-2.0
// peer_bench: reductions over peer memory among ranks of one process on one GPU (peer_bench --help).
// Exit status: 0, 1 if something failed, 2 for wrong usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "gpu_bench/figures.h"
#include "gpu_bench/options.h"
#include "ranks.h"
#include "report.h"

int main(int argc, char** argv) {
  using namespace detccl::peer_bench;
  // Streams that share a hardware queue wait for each other's kernels, and here for ever.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  Options o;
  std::vector<std::string> types;
  CLI::App app("Times of reductions over peer memory: ranks of one process on one GPU");
  app.add_option("-b,--begin", o.begin_bytes, "smallest message, in bytes (K, M, G)")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1K");
  app.add_option("-e,--end", o.end_bytes, "largest message")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("256M");
  app.add_option("-t,--types", types, "payload types")->delimiter(',')->default_str("bfloat16,float32");
  app.add_option("-r,--ranks", o.ranks, "numbers of ranks")
      ->delimiter(',')
      ->check(CLI::Range(2U, peer::kMaxRanks))
      ->default_str("2,4,8");
  app.add_option("-B,--block-counts", o.block_counts, "thread blocks of each rank")
      ->delimiter(',')
      ->check(CLI::Range(1U, peer::kMaxBlocks))
      ->default_str("8,16,32");
  detccl::gpu_bench::add_options(app, o);
  try {
    app.parse(argc, argv);
    if (!types.empty()) o.types.clear();
    for (const std::string& text : types) {
      const auto type = detccl::contract::parse_data_type(text);
      if (!type) throw CLI::ValidationError("'" + text + "' is no type");
      o.types.push_back(*type);
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    nlohmann::json run = describe_run(o);
    print_header();
    measure(o, [&](const Row& row) {
      run["rows"].push_back(describe_row(row));
      print_row(run["rows"].back());
    });
    if (!o.json.empty()) detccl::gpu_bench::write_json(o.json, run);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peer_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
