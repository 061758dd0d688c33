// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <stdexcept>

namespace detccl::fold_bench {
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

}  // namespace

json describe_run(const Options& o) {
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp properties{};
  require(cudaGetDevice(&device));
  require(cudaGetDeviceProperties(&properties, device));
  require(cudaDriverGetVersion(&driver));
  require(cudaRuntimeGetVersion(&runtime));
  return {{"program", "fold_bench"},
          {"date", now()},
          {"commit", DETCCL_COMMIT},
          {"gpu", properties.name},
          {"multiprocessors", properties.multiProcessorCount},
          {"driver_cuda_version", version(driver)},
          {"runtime_cuda_version", version(runtime)},
          {"contract", to_string(o.contract)},
          {"limited_blocks", o.blocks},
          {"warmups", o.warmups},
          {"samples", o.samples},
          {"units",
           "GB/s of all bytes read and written, 1 GB = 1e9 bytes; ratios to the copy of the same sample"},
          {"rows", json::array()}};
}

json describe_row(const Row& row) {
  const Rates& r = row.rates;
  return {{"type", contract::name(row.type)},
          {"op", "sum"},
          {"operands", row.operands},
          {"operand_bytes", row.bytes},
          {"copy_gbps", spread(r.copy, 1e-9)},
          {"fold_gbps", spread(r.fold, 1e-9)},
          {"limited_gbps", spread(r.limited, 1e-9)},
          {"fold_over_copy", spread_of_ratios(r.fold, r.copy)},
          {"limited_over_copy", spread_of_ratios(r.limited, r.copy)}};
}

void print_header(const Options& o) {
  fmt::print("# sums, {}; GB/s of bytes read and written: median; ratios to the copy: min median max\n",
             to_string(o.contract));
  fmt::print("{:>11} {:>3} {:>11} {:>6} {:>6} {:>6}  {:^17}  {:^17}\n", "type", "k", "operand", "copy",
             "fold", fmt::format("{} bl.", o.blocks), "fold/copy", "limited/copy");
}

void print_row(const json& row) {
  const auto three = [&](const char* key) {
    const json& s = row.at(key);
    return fmt::format("{:.3f} {:.3f} {:.3f}", s.at("min").get<double>(), s.at("median").get<double>(),
                       s.at("max").get<double>());
  };
  const auto median = [&](const char* key) { return row.at(key).at("median").get<double>(); };
  fmt::print("{:>11} {:>3} {:>11} {:>6.0f} {:>6.0f} {:>6.0f}  {}  {}\n", row.at("type").get<std::string>(),
             row.at("operands").get<std::uint32_t>(), row.at("operand_bytes").get<std::uint64_t>(),
             median("copy_gbps"), median("fold_gbps"), median("limited_gbps"), three("fold_over_copy"),
             three("limited_over_copy"));
  std::fflush(stdout);
}

void write_json(const std::string& file, const json& run) {
  std::ofstream out(file);
  out << run.dump(1) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace detccl::fold_bench
