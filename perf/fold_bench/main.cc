// SPDX-License-Identifier: Apache-2.0
// fold_bench: bytes per second of ordered folds on a GPU against device-to-device copies (fold_bench --help).
// Exit status: 0, 1 if something failed, 2 for wrong usage.
#include <cstdio>
#include <exception>

#include "gpu_bench/figures.h"
#include "report.h"

int main(int argc, char** argv) {
  using namespace detccl::fold_bench;
  try {
    const Parsed parsed = parse(argc, argv);
    if (parsed.exit) return *parsed.exit;
    nlohmann::json run = describe_run(parsed.options);
    print_header(parsed.options);
    measure(parsed.options, [&](const Row& row) {
      run["rows"].push_back(describe_row(row));
      print_row(run["rows"].back());
    });
    if (!parsed.options.json.empty()) detccl::gpu_bench::write_json(parsed.options.json, run);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fold_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
