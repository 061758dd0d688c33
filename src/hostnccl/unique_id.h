// SPDX-License-Identifier: Apache-2.0
// What the 128 bytes of an ncclUniqueId hold here: where the root listens, and a random number by which it
// knows its own ranks.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <string>

#include "hostnccl/error.h"

namespace detccl::hostnccl {

using Magic = std::array<std::uint64_t, 2>;

struct RootAddress {
  sockaddr_in address{};
  Magic magic{};
};

ncclUniqueId encode(const RootAddress& root);

/// Throws Error(ncclInvalidArgument) when the bytes are not an id that this library made.
RootAddress decode(const ncclUniqueId& id);

/// Random bits from the system.
Magic random_magic();

/// "127.0.0.1:4711"
std::string to_string(const sockaddr_in& address);

}  // namespace detccl::hostnccl
