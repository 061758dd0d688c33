// SPDX-License-Identifier: Apache-2.0
// In which step of the program, and in which phase of it, operations are handed over: what the program says
// by detcclMark() and detcclMarkStep(), or by its NVTX ranges (nvtx.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace detccl::recorder {

/// Steps are the process's: threads that help with a step need not say so. Any thread.
void set_step(std::uint32_t step);
std::uint32_t current_step();  ///< trace::kNoStep before the first one
/// Who is told of each set_step(), by the thread that calls it; null for nobody.
void set_step_listener(void (*listener)(std::uint32_t step));

/// The number in "step 12", "iteration_12", "ProfilerStep#12" … or nothing: a name that begins with a word
/// for a step, and ends with its number.
std::optional<std::uint32_t> step_in(std::string_view name);

/// The calling thread's ranges, each within the one before; a name that tells a step sets it.
void push_range(std::string_view name);
void pop_range();

/// The calling thread's phase: its ranges' names, "forward/attention", or what set_phase() said last, where
/// there are no ranges. Valid until the thread's next call.
const std::string& current_phase();
void set_phase(std::string_view phase);

}  // namespace detccl::recorder
