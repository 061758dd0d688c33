// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "measure.h"

namespace detccl::fold_bench {

/// Where and when: date, GPU, versions, commit; the options.
nlohmann::json describe_run(const Options& options);

/// One row's figures: rates in GB/s, and each sample's fold over its copy; least, median, greatest.
nlohmann::json describe_row(const Row& row);

void print_header(const Options& options);
void print_row(const nlohmann::json& row);

}  // namespace detccl::fold_bench
