// SPDX-License-Identifier: Apache-2.0
// What this process has used so far.
#pragma once

#include <cstdint>

namespace detccl::perf::rank_digest {

/// Processor time of all its threads, in user and system mode, seconds.
double processor_seconds();

/// Memory in KB, of what it shares with others its part (the kernel's Pss): those of all processes add up to
/// what they take together. Throws std::runtime_error where the kernel does not tell.
std::uint64_t memory_kb();

}  // namespace detccl::perf::rank_digest
