// SPDX-License-Identifier: Apache-2.0
// Which network interface the control plane listens on.
#pragma once

#include <netinet/in.h>

#include <string>
#include <string_view>

namespace detccl::hostnccl {

/// Whether `name` is one of those that a NCCL_SOCKET_IFNAME value selects: prefixes separated by commas;
/// "=" before them asks for whole names, "^" for all others.
bool selects(std::string_view value, std::string_view name);

/// The IPv4 address (port 0) to listen on: of the first interface up that NCCL_SOCKET_IFNAME selects; where
/// that is not set, the first one up that is no loopback, else the loopback.
/// Throws Error(ncclInvalidUsage) when NCCL_SOCKET_IFNAME selects none.
sockaddr_in listening_address();

}  // namespace detccl::hostnccl
