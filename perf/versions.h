// SPDX-License-Identifier: Apache-2.0
// What the measurement ran on and with; no names of machines or paths.
#pragma once

#include <string>

namespace detccl::perf {

std::string cpu_model();
std::string open_mpi_version();  ///< "4.1.4"
std::string ucx_version();       ///< "1.13.1"; empty where there is none
std::string date_utc();          ///< "2026-01-31T12:00:00Z"

}  // namespace detccl::perf
