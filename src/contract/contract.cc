// SPDX-License-Identifier: Apache-2.0
#include "contract/contract.h"

#include <bit>
#include <charconv>

namespace detccl::contract {
namespace {

/// Drops `prefix` from the front of `text` if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// A decimal power of two from 2, without leading zeros; 0 if `text` is none.
std::uint32_t parse_block(std::string_view text) {
  std::uint32_t block = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, block);
  const bool valid =
      error == std::errc{} && stop == end && text.front() != '0' && block >= 2 && std::has_single_bit(block);
  return valid ? block : 0;
}

}  // namespace

std::optional<Contract> parse_contract(std::string_view text) {
  Contract c;
  if (take(text, "linear")) {
    c.order = Order::linear;
  } else if (!take(text, "tree")) {
    return std::nullopt;
  }
  if (take(text, ":native")) {
    c.accumulate = Accumulate::native;
  } else {
    take(text, ":wide");
    if (take(text, "/")) {
      c.block = parse_block(text);
      if (c.block == 0) return std::nullopt;
      return c;
    }
  }
  if (!text.empty()) return std::nullopt;
  return c;
}

std::string to_string(const Contract& c) {
  std::string text = c.order == Order::tree ? "tree" : "linear";
  if (c.accumulate == Accumulate::native) text += ":native";
  if (c.block != 0) text += ":wide/" + std::to_string(c.block);
  return text;
}

}  // namespace detccl::contract
