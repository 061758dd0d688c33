// SPDX-License-Identifier: Apache-2.0
// A record's fields under the names that PyTorch's Flight Recorder has for them, where they mean the same.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "trace/reader.h"
#include "trace/record.h"

namespace detccl::cli {

/// "nccl:all_reduce", "nccl:send 0->1" (ranks of the communicator).
std::string profiling_name(const trace::Record& record, const trace::Tables& tables);
/// The communicator's name, or its key in hexadecimal.
std::string group_name(const trace::Record& record, const trace::Tables& tables);

/// What two runs of the same program share: without times.
nlohmann::ordered_json fields_of(const trace::Record& record, const trace::Tables& tables);

/// With control characters, which a trace may hold, as "?".
std::string printable(std::string text);
/// Indented, with a newline; bytes that are not UTF-8 are replaced.
std::string dump(const nlohmann::json& json);
/// On one line.
std::string dump_line(const nlohmann::ordered_json& json);

}  // namespace detccl::cli
