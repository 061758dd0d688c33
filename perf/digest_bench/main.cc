// SPDX-License-Identifier: Apache-2.0
// digest_bench: bytes per second of fingerprints on a GPU against a kernel that only reads (digest_bench
// --help). Exit status: 0, 1 if something failed, 2 for wrong usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>

#include "fingerprint/cuda/digest.h"
#include "gpu_bench/figures.h"
#include "gpu_bench/options.h"
#include "report.h"

namespace detccl::digest_bench {
namespace {

/// Sets `o`; the status to exit with: 0 after --help, 2 for wrong options (said on stderr).
std::optional<int> parse(Options& o, int argc, char** argv) {
  CLI::App app("Speed of fingerprints on a GPU, against reading and copying as many bytes in the same run");
  app.add_option("-b,--begin", o.begin_bytes, "smallest payload, in bytes (K, M, G)")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1M");
  app.add_option("-e,--end", o.end_bytes, "largest payload")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4G");
  app.add_option("--chunks", o.chunks, "chunks of the table")
      ->check(CLI::Range(std::uint64_t{1}, fingerprint::cuda::kMaxChunks))
      ->capture_default_str();
  gpu_bench::add_options(app, o);
  try {
    app.parse(argc, argv);
    if (o.begin_bytes < 1024 || o.begin_bytes % 16 != 0 || o.end_bytes < o.begin_bytes)
      throw CLI::ValidationError("sizes start at 1K, are multiples of 16, and -e is no less than -b");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace detccl::digest_bench

int main(int argc, char** argv) {
  using namespace detccl::digest_bench;
  try {
    Options options;
    if (const auto status = parse(options, argc, argv)) return *status;
    nlohmann::json run = describe_run(options);
    print_header(options);
    measure(options, [&](const Row& row) {
      run["rows"].push_back(describe_row(row));
      print_row(run["rows"].back());
      if (!options.json.empty()) detccl::gpu_bench::write_json(options.json, run);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digest_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
