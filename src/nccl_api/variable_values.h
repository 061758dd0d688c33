// SPDX-License-Identifier: Apache-2.0
// What a value of an environment variable means: each function takes one over into the configuration, or
// returns false where it is not allowed.
#pragma once

#include <string_view>

#include "nccl_api/environment.h"

namespace detccl::nccl_api {

bool take_contract(std::string_view text, Configuration& configuration);
bool take_schedule(std::string_view text, Configuration& configuration);
bool take_peer_blocks(std::string_view text, Configuration& configuration);
bool take_chunk(std::string_view text, Configuration& configuration);
bool take_lanes(std::string_view text, Configuration& configuration);
bool take_tuning(std::string_view text, Configuration& configuration);
bool take_group(std::string_view text, Configuration& configuration);
bool take_scratch(std::string_view text, Configuration& configuration);
bool take_fallback(std::string_view text, Configuration& configuration);
bool take_trace(std::string_view text, Configuration& configuration);
bool take_trace_folder(std::string_view text, Configuration& configuration);
bool take_trace_steps(std::string_view text, Configuration& configuration);
bool take_trace_ranks(std::string_view text, Configuration& configuration);
bool take_log(std::string_view text, Configuration& configuration);
bool take_prove(std::string_view text, Configuration& configuration);
bool take_disable(std::string_view text, Configuration& configuration);
bool take_nccl_library(std::string_view text, Configuration& configuration);
bool take_timeout(std::string_view text, Configuration& configuration);
/// The profiler plugin reads it, which may be there without this library.
bool take_profilers(std::string_view text, Configuration& configuration);
bool take_profiler_events(std::string_view text, Configuration& configuration);
bool take_profiler_period(std::string_view text, Configuration& configuration);
bool take_profiler_shadow(std::string_view text, Configuration& configuration);
bool take_profiler_calibrate(std::string_view text, Configuration& configuration);
bool take_profiler_phases(std::string_view text, Configuration& configuration);

}  // namespace detccl::nccl_api
