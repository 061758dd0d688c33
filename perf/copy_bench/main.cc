// SPDX-License-Identifier: Apache-2.0
// copy_bench: bytes per second of copies between the GPUs of a host, and within each (copy_bench --help).
// Exit status: 0, 1 if something failed, 2 for wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "gpu_bench/figures.h"
#include "measure.h"

namespace detccl::copy_bench {
namespace {

nlohmann::json describe(const Row& row) {
  nlohmann::json json = {{"from", row.from},
                         {"to", row.to},
                         {"peer_access", row.peer_access},
                         {"one_way_gbps", gpu_bench::spread(row.one_way, 1e-9)}};
  if (!row.both_ways.empty()) json["both_ways_gbps"] = gpu_bench::spread(row.both_ways, 1e-9);
  return json;
}

void print(const nlohmann::json& row) {
  const auto median = [&](const char* key) {
    return row.contains(key) ? fmt::format("{:.1f}", row.at(key).at("median").get<double>())
                             : std::string("-");
  };
  fmt::print("{:>4} -> {:<4} {:>10} {:>10}{}\n", row.at("from").get<int>(), row.at("to").get<int>(),
             median("one_way_gbps"), median("both_ways_gbps"),
             row.at("peer_access").get<bool>() ? "" : "  no peer access: over the host");
}

void run(const Options& options, const std::string& file) {
  nlohmann::json document = gpu_bench::describe_machine("copy_bench", DETCCL_COMMIT);
  document["bytes"] = options.bytes;
  document["units"] =
      "GB/s of payload (1 GB = 1e9 bytes), each direction; copies within a GPU read and write it";
  document["rows"] = nlohmann::json::array();
  fmt::print("{:>12} {:>10} {:>10}\n", "GPUs", "one way", "both ways");
  for (const Row& row : measure(options)) {
    document["rows"].push_back(describe(row));
    print(document["rows"].back());
  }
  if (!file.empty()) gpu_bench::write_json(file, document);
}

}  // namespace
}  // namespace detccl::copy_bench

int main(int argc, char** argv) {
  using namespace detccl::copy_bench;
  Options options;
  std::string json;
  CLI::App app("Speed of copies between the GPUs of this host, and within each");
  app.add_option("-b,--bytes", options.bytes, "payload (K, M, G) [256M]")->transform(CLI::AsSizeValue(false));
  app.add_option("-n,--samples", options.samples, "samples of each kind")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", json, "write the figures to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    run(options, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "copy_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
