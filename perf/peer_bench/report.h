// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "measure.h"

namespace detccl::peer_bench {

nlohmann::json describe_run(const Options& options);
nlohmann::json describe_row(const Row& row);
void print_header();
void print_row(const nlohmann::json& row);

}  // namespace detccl::peer_bench
