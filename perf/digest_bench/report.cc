// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <cstdio>

#include "gpu_bench/figures.h"

namespace detccl::digest_bench {
namespace {

using nlohmann::json;

using gpu_bench::spread;
using gpu_bench::spread_of_ratios;

const std::vector<double>& rates(const Row& row, What what) {
  return row.rates[static_cast<int>(what)];
}

}  // namespace

json describe_run(const Options& o) {
  json run = gpu_bench::describe_machine("digest_bench", DETCCL_COMMIT);
  run.update({{"limited_blocks", o.blocks},
              {"chunks", o.chunks},
              {"warmups", o.warmups},
              {"samples", o.samples},
              {"units",
               "GB/s of bytes read, for copy of bytes read and written, 1 GB = 1e9 bytes; ratios to the read "
               "and the copy of the same sample"},
              {"rows", json::array()}});
  return run;
}

json describe_row(const Row& row) {
  json described = {{"bytes", row.bytes}};
  for (int what = 0; what < kWhatCount; ++what) {
    const std::string name = kWhats[what];
    described[name + "_gbps"] = spread(row.rates[what], 1e-9);
    if (what != static_cast<int>(What::read))
      described[name + "_over_read"] = spread_of_ratios(row.rates[what], rates(row, What::read));
  }
  described["digest_over_copy"] = spread_of_ratios(rates(row, What::digest), rates(row, What::copy));
  return described;
}

void print_header(const Options& o) {
  fmt::print(
      "# GB/s: median; digest/read: min median max; shifted: 2 bytes past a multiple of 16; {} chunks; "
      "limited: {} blocks; torch: hash_tensor of bf16\n",
      o.chunks, o.blocks);
  fmt::print("{:>11}", "bytes");
  for (const char* const what : kWhats)
    fmt::print(" {:>8}", what);
  fmt::print("  {:^17}\n", "digest/read");
}

void print_row(const json& row) {
  fmt::print("{:>11}", row.at("bytes").get<std::uint64_t>());
  for (const char* const what : kWhats)
    fmt::print(" {:>8.0f}", row.at(std::string(what) + "_gbps").at("median").get<double>());
  const json& ratio = row.at("digest_over_read");
  fmt::print("  {:.3f} {:.3f} {:.3f}\n", ratio.at("min").get<double>(), ratio.at("median").get<double>(),
             ratio.at("max").get<double>());
  std::fflush(stdout);
}

}  // namespace detccl::digest_bench
