// SPDX-License-Identifier: Apache-2.0
#include "figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "gpu.h"

namespace detccl::gpu_bench {
namespace {

using nlohmann::json;

/// Three digits after the point.
double rounded(double x) {
  return static_cast<double>(static_cast<std::int64_t>(x * 1000 + 0.5)) / 1000;
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

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

json spread(std::vector<double> values, double scale) {
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

json describe_machine(const char* program, const char* commit) {
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp properties{};
  require(cudaGetDevice(&device));
  require(cudaGetDeviceProperties(&properties, device));
  require(cudaDriverGetVersion(&driver));
  require(cudaRuntimeGetVersion(&runtime));
  return {{"program", program},
          {"date", now()},
          {"commit", commit},
          {"gpu", properties.name},
          {"multiprocessors", properties.multiProcessorCount},
          {"driver_cuda_version", version(driver)},
          {"runtime_cuda_version", version(runtime)}};
}

void write_json(const std::string& file, const json& run) {
  std::ofstream out(file);
  out << run.dump(1) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace detccl::gpu_bench
