// SPDX-License-Identifier: Apache-2.0
// Tuning files: the first line "detccl-tuning 1", then a line "KEY NUMBER" for each of figures(), in any
// order, every one of them once, and if one likes "source TEXT". Empty lines and what follows a # do not
// count.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plan/tuner/coefficients.h"

namespace detccl::plan::tuner {

inline constexpr std::size_t kMostFileBytes = std::size_t{64} << 10;

/// Throws std::invalid_argument with one line that names the line and the key.
Coefficients parse(std::string_view text);

/// Likewise, of a file; the line begins with its name.
Coefficients read_file(const std::string& path);

/// To six digits. `remarks`: lines that go in as comments.
std::string write(const Coefficients& c, std::string_view remarks = "");

}  // namespace detccl::plan::tuner
