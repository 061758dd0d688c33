// SPDX-License-Identifier: Apache-2.0
// What can be changed while the program runs: the file "control" in the summaries' folder, in lines
// "events = kernels", "period = 10". What it says is above the environment; without the file that holds
// again.
#pragma once

#include <cstdint>

namespace detccl::profiler {

/// What holds now. Any thread; cheap.
std::uint64_t recorded();     ///< the kinds of events that summaries are made of
std::uint64_t asked();        ///< the kinds that NCCL is asked for: with the above those that keep it calling
std::uint64_t period();       ///< nanoseconds between two summaries; 0: at the end only
const char* events_in_use();  ///< the name of what is recorded

/// Looks at the file, where it has changed takes it over, and tells on standard error what is not allowed in
/// it. Not on NCCL's proxy threads, for files may be slow.
void look_at_control() noexcept;

}  // namespace detccl::profiler
