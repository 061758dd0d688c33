// SPDX-License-Identifier: Apache-2.0
// `detccl trace export`: operations for other tools.
#pragma once

#include <string>

#include "cli/trace_show.h"

namespace detccl::cli {

/// `format`: "jsonl": `out` is a folder, made, with a rank_000017.jsonl for each rank, as Megatron-LM's
/// rank-local determinism tracer writes; without times, so that its comparison tool can compare two runs.
/// "chrome": Chrome's trace event format, for Perfetto. "csv": a line for each operation. Nothing that is
/// there is overwritten. False, and the reason in `error`, if that fails.
bool export_trace(const std::string& path, const std::string& format, const std::string& out,
                  const RecordFilter& filter, std::string& error);

}  // namespace detccl::cli
