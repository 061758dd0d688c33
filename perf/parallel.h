// SPDX-License-Identifier: Apache-2.0
// A rank's share of the processors, for inputs and checks.
#pragma once

#include <cstdint>
#include <functional>

namespace detccl::perf {

/// The sum, modulo 2^64, of work(from, to) over pieces of [begin, end), which begin at multiples of `block`
/// elements after `begin`; `ranks` processes share this host's processors. `work` is called by several
/// threads at a time.
std::uint64_t sum_in_parallel(int ranks, std::uint64_t begin, std::uint64_t end, std::uint64_t block,
                              const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& work);

}  // namespace detccl::perf
