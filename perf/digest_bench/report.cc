// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>

namespace detccl::digest_bench {
namespace {

using nlohmann::json;

/// Three digits after the point.
double rounded(double x) {
  return static_cast<double>(static_cast<std::int64_t>(x * 1000 + 0.5)) / 1000;
}

json spread(std::vector<double> values, double scale = 1) {
  std::sort(values.begin(), values.end());
  return {{"min", rounded(values.front() * scale)},
          {"median", rounded(values[values.size() / 2] * scale)},
          {"max", rounded(values.back() * scale)}};
}

json spread_of_ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios(a.size());
  std::transform(a.begin(), a.end(), b.begin(), ratios.begin(), [](double x, double y) { return x / y; });
  return spread(std::move(ratios));
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string version(int cuda) {
  return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
}

const std::vector<double>& rates(const Row& row, What what) {
  return row.rates[static_cast<int>(what)];
}

}  // namespace

json describe_run(const Options& o) {
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp properties{};
  require(cudaGetDevice(&device));
  require(cudaGetDeviceProperties(&properties, device));
  require(cudaDriverGetVersion(&driver));
  require(cudaRuntimeGetVersion(&runtime));
  return {{"program", "digest_bench"},
          {"date", now()},
          {"commit", DETCCL_COMMIT},
          {"gpu", properties.name},
          {"multiprocessors", properties.multiProcessorCount},
          {"driver_cuda_version", version(driver)},
          {"runtime_cuda_version", version(runtime)},
          {"limited_blocks", o.blocks},
          {"chunks", o.chunks},
          {"warmups", o.warmups},
          {"samples", o.samples},
          {"units",
           "GB/s of bytes read, for copy of bytes read and written, 1 GB = 1e9 bytes; ratios to the read "
           "and the copy of the same sample"},
          {"rows", json::array()}};
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

void write_json(const std::string& file, const json& run) {
  std::ofstream out(file);
  out << run.dump(1) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace detccl::digest_bench
