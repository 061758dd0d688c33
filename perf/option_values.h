// SPDX-License-Identifier: Apache-2.0
// What options say, from text. All throw CLI::ValidationError with what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.h"

namespace detccl::perf {

/// "64", "4K", "1.5M", "1G" in bytes.
std::uint64_t parse_size(const std::string& text);
/// "all", or names as in nccl-tests with commas between them.
std::vector<contract::DataType> parse_types(const std::string& text);
std::vector<contract::Op> parse_operations(const std::string& text);
Against parse_against(const std::string& text);
Bench parse_bench(const std::string& text);
/// "all": the library's choice, then each that can carry out the contract.
std::vector<std::string> schedules_of(const std::string& text, const contract::Contract& c);
contract::Contract contract_of(const std::string& text);
/// "1:0:-1": of rank 1's first call, down by one.
Fault parse_fault(const std::string& text);
Repeats parse_repeats(const std::string& text);
ChildPlace parse_child(const std::string& text);

}  // namespace detccl::perf
