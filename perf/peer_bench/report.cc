// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_bench/figures.h"

namespace detccl::peer_bench {

using gpu_bench::spread;
using nlohmann::json;

json describe_run(const Options& o) {
  json run = gpu_bench::describe_machine("peer_bench", DETCCL_COMMIT);
  run.update({{"samples", o.samples},
              {"units", "microseconds of one operation, by CUDA graphs of many; GB/s: 1e9 bytes"},
              {"rows", json::array()}});
  return run;
}

json describe_row(const Row& row) {
  constexpr const char* kCollectives[] = {"all_reduce", "reduce_scatter", "reduce"};
  constexpr const char* kModes[] = {"packets", "shard_packets", "one_shot", "two_shot"};
  json j = {{"collective", kCollectives[static_cast<int>(row.collective)]},
            {"mode", kModes[static_cast<int>(row.mode)]},
            {"type", contract::name(row.type)},
            {"ranks", row.ranks},
            {"blocks", row.blocks},
            {"bytes", row.bytes},
            {"moved_bytes", row.moved},
            {"us", spread(row.seconds, 1e6)},
            {"gbps", static_cast<double>(row.moved) * 1e-9 /
                         *std::min_element(row.seconds.begin(), row.seconds.end())}};
  if (!row.recorded_seconds.empty()) {
    j["recorded_us"] = spread(row.recorded_seconds, 1e6);
    j["recorded_of_plain"] = gpu_bench::spread_of_ratios(row.recorded_seconds, row.seconds);
    j["beside_us"] = spread(row.beside_seconds, 1e6);
  }
  if (!row.empty_seconds.empty()) j["empty_us"] = spread(row.empty_seconds, 1e6);
  if (!row.copy_seconds.empty()) {
    j["copy_us"] = spread(row.copy_seconds, 1e6);
    j["of_copy_speed"] = gpu_bench::spread_of_ratios(row.copy_seconds, row.seconds);
  }
  return j;
}

void print_header() {
  fmt::print(
      "# one operation of all ranks, median; recorded: with digests and record by the kernel itself, beside: "
      "by\n"
      "# others; empty: kernels that do nothing; copy: of as many bytes\n");
  fmt::print("{:>14} {:>9} {:>9} {:>5} {:>6} {:>10} {:>9} {:>8} {:>9} {:>9} {:>8} {:>9} {:>8}\n",
             "collective", "mode", "type", "ranks", "blocks", "bytes", "us", "recorded", "of plain", "beside",
             "empty us", "copy us", "of copy");
}

void print_row(const json& row) {
  const auto median = [&](const char* key) {
    return row.contains(key) ? fmt::format("{:.2f}", row.at(key).at("median").get<double>())
                             : std::string("-");
  };
  fmt::print("{:>14} {:>9} {:>9} {:>5} {:>6} {:>10} {:>9} {:>9} {:>8} {:>9} {:>8} {:>9} {:>8}\n",
             row.at("collective").get<std::string>(), row.at("mode").get<std::string>(),
             row.at("type").get<std::string>(), row.at("ranks").get<std::uint32_t>(),
             row.at("blocks").get<std::uint32_t>(), row.at("bytes").get<std::uint64_t>(), median("us"),
             median("recorded_us"), median("recorded_of_plain"), median("beside_us"), median("empty_us"),
             median("copy_us"), median("of_copy_speed"));
  std::fflush(stdout);
}

}  // namespace detccl::peer_bench
