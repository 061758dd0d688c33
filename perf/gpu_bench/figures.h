// SPDX-License-Identifier: Apache-2.0
// Figures of a benchmark as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace detccl::gpu_bench {

/// Least, median, greatest of the values, which are not empty, times `scale`, to three digits after the
/// point.
nlohmann::json spread(std::vector<double> values, double scale = 1);
/// Likewise of a[i] / b[i].
nlohmann::json spread_of_ratios(const std::vector<double>& a, const std::vector<double>& b);

/// Program, date, commit, GPU and CUDA versions.
nlohmann::json describe_machine(const char* program, const char* commit);

/// Throws std::runtime_error if the file cannot be written.
void write_json(const std::string& file, const nlohmann::json& run);

}  // namespace detccl::gpu_bench
