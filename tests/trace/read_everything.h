// SPDX-License-Identifier: Apache-2.0
// Calls every function that reads a trace, on any bytes: what the fuzz target and the mutation test run.
#pragma once

#include <cstddef>
#include <span>

namespace detccl::test {

/// Returns the number of records that it could read.
std::size_t read_everything(std::span<const std::byte> bytes);

}  // namespace detccl::test
