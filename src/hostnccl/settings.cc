// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "hostnccl/error.h"

namespace detccl::hostnccl {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void bad_placement(std::string_view value) {
  throw Error(
      ncclInvalidUsage,
      fmt::format("HOSTNCCL_PLACEMENT={}: allowed is a permutation of the ranks, as in 2,0,1,3", value));
}

std::vector<std::uint32_t> parse_placement(std::string_view value) {
  std::vector<std::uint32_t> placement;
  for (std::string_view rest = value;;) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto rank = parse_number<std::uint32_t>(item);
    if (!rank) bad_placement(value);
    placement.push_back(*rank);
    if (item.size() == rest.size()) break;
    rest.remove_prefix(item.size() + 1);
  }
  std::vector<bool> seen(placement.size());
  for (const std::uint32_t rank : placement) {
    if (rank >= placement.size() || seen[rank]) bad_placement(value);
    seen[rank] = true;
  }
  return placement;
}

void refuse_unknown_names() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("HOSTNCCL_") && name != "HOSTNCCL_PLACEMENT" && name != "HOSTNCCL_TIMEOUT") {
      throw Error(ncclInvalidUsage,
                  fmt::format("{} is no variable of this library; there are HOSTNCCL_PLACEMENT and "
                              "HOSTNCCL_TIMEOUT",
                              name));
    }
  }
}

}  // namespace

Settings read_settings() {
  refuse_unknown_names();
  Settings settings;
  if (const char* value = std::getenv("HOSTNCCL_PLACEMENT"); value != nullptr && *value != '\0') {
    settings.placement = parse_placement(value);
  }
  if (const char* value = std::getenv("HOSTNCCL_TIMEOUT"); value != nullptr && *value != '\0') {
    const auto seconds = parse_number<std::uint32_t>(value);
    if (!seconds) {
      throw Error(
          ncclInvalidUsage,
          fmt::format("HOSTNCCL_TIMEOUT={}: allowed is a whole number of seconds, 0 for never", value));
    }
    settings.timeout = std::chrono::seconds(*seconds);
  }
  return settings;
}

std::vector<std::uint32_t> ring_of(const Settings& settings, std::uint32_t size) {
  if (settings.placement.empty()) {
    std::vector<std::uint32_t> identity(size);
    std::iota(identity.begin(), identity.end(), 0u);
    return identity;
  }
  if (settings.placement.size() != size) {
    throw Error(ncclInvalidUsage, fmt::format("HOSTNCCL_PLACEMENT names {} ranks, the communicator has {}",
                                              settings.placement.size(), size));
  }
  return settings.placement;
}

}  // namespace detccl::hostnccl
