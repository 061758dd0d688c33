// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "hostnccl/error.h"

namespace detccl::hostnccl {

bool selects(std::string_view value, std::string_view name) {
  const bool exclude = value.starts_with('^');
  if (exclude) value.remove_prefix(1);
  const bool exact = value.starts_with('=');
  if (exact) value.remove_prefix(1);
  bool listed = false;
  while (!value.empty()) {
    const std::string_view item = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), item.size() + 1));
    listed = listed || (!item.empty() && (exact ? name == item : name.starts_with(item)));
  }
  return listed != exclude;
}

sockaddr_in listening_address() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    throw Error(ncclSystemError, fmt::format("getifaddrs: {}", std::strerror(errno)));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  const char* wanted = std::getenv("NCCL_SOCKET_IFNAME");
  if (wanted != nullptr && *wanted == '\0') wanted = nullptr;

  std::optional<sockaddr_in> loopback;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, i->ifa_addr, sizeof address);
    address.sin_port = 0;
    const bool is_loopback = (i->ifa_flags & IFF_LOOPBACK) != 0;
    if (wanted != nullptr ? selects(wanted, i->ifa_name) : !is_loopback) return address;
    if (is_loopback && !loopback) loopback = address;
  }
  if (wanted != nullptr) {
    throw Error(
        ncclInvalidUsage,
        fmt::format("NCCL_SOCKET_IFNAME={} selects no interface that is up and has an IPv4 address", wanted));
  }
  if (!loopback) throw Error(ncclSystemError, "no network interface with an IPv4 address is up");
  return *loopback;
}

}  // namespace detccl::hostnccl
