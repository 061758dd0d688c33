// SPDX-License-Identifier: Apache-2.0
// The page itself; @DATA@ is where the data goes.
#pragma once

#include <string_view>

namespace detccl::cli {

extern const std::string_view kTracePage;

}  // namespace detccl::cli
