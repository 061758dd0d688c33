// SPDX-License-Identifier: Apache-2.0
// Options that all benchmarks of kernels have.
#pragma once

#include <CLI/CLI.hpp>

namespace detccl::gpu_bench {

/// `options` has factor, warmups, samples, blocks and json.
template <class Options>
void add_options(CLI::App& app, Options& options) {
  app.add_option("-f,--factor", options.factor, "from one size to the next")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  app.add_option("-w,--warmup", options.warmups, "runs before the first sample")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("-n,--samples", options.samples, "samples of each kind, interleaved")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--blocks", options.blocks, "thread blocks of the limited run")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--json", options.json, "write the figures to this file");
}

}  // namespace detccl::gpu_bench
