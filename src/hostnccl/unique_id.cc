// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/unique_id.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <cstring>

#include <fmt/format.h>

namespace detccl::hostnccl {
namespace {

constexpr char kMarker[8] = {'H', 'O', 'S', 'T', 'N', 'C', 'C', 'L'};
constexpr std::uint32_t kFormat = 1;

/// The layout of the id's first bytes; the rest is zero.
struct Layout {
  char marker[8];
  std::uint32_t format;
  std::uint32_t address;  // network order
  std::uint32_t port;
  std::uint32_t unused;
  Magic magic;
  std::uint64_t check;
};
static_assert(sizeof(Layout) <= NCCL_UNIQUE_ID_BYTES);

/// FNV-1a over everything before `check`: catches an id that was copied in part.
std::uint64_t check_of(const Layout& layout) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&layout);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < offsetof(Layout, check); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace

ncclUniqueId encode(const RootAddress& root) {
  Layout layout{};
  std::memcpy(layout.marker, kMarker, sizeof kMarker);
  layout.format = kFormat;
  layout.address = root.address.sin_addr.s_addr;
  layout.port = root.address.sin_port;
  layout.magic = root.magic;
  layout.check = check_of(layout);
  ncclUniqueId id{};
  std::memcpy(id.internal, &layout, sizeof layout);
  return id;
}

RootAddress decode(const ncclUniqueId& id) {
  Layout layout{};
  std::memcpy(&layout, id.internal, sizeof layout);
  if (std::memcmp(layout.marker, kMarker, sizeof kMarker) != 0 || layout.check != check_of(layout)) {
    throw Error(ncclInvalidArgument,
                "the unique id was not made by ncclGetUniqueId of this library, or is damaged");
  }
  if (layout.format != kFormat) {
    throw Error(
        ncclInvalidArgument,
        fmt::format("the unique id has format {}, this library makes and reads format {}: every rank must "
                    "use the same version of it",
                    layout.format, kFormat));
  }
  RootAddress root;
  root.address.sin_family = AF_INET;
  root.address.sin_addr.s_addr = layout.address;
  root.address.sin_port = static_cast<in_port_t>(layout.port);
  root.magic = layout.magic;
  return root;
}

Magic random_magic() {
  Magic magic{};
  if (::getrandom(magic.data(), sizeof magic, 0) != static_cast<ssize_t>(sizeof magic)) {
    throw Error(ncclSystemError, fmt::format("getrandom: {}", std::strerror(errno)));
  }
  return magic;
}

std::string to_string(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return fmt::format("{}:{}", text, ntohs(address.sin_port));
}

}  // namespace detccl::hostnccl
