// SPDX-License-Identifier: Apache-2.0
#include "result.h"

#include <cstdio>

namespace promises {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

}  // namespace

void Result::expect(bool condition, const std::string& what) {
  ++checks;
  if (condition) return;
  if (++failures == 1) first_failure = what;
}

void Result::add_to_digest(const void* data, std::size_t bytes) {
  const auto* const byte = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i)
    digest = (digest ^ byte[i]) * 0x100000001b3u;
}

std::string to_json(const std::string& name, int rank, const Result& result, double seconds) {
  char digest[20];
  std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(result.digest));
  std::string line = "{\"case\":" + quoted(name) + ",\"rank\":" + std::to_string(rank) +
                     ",\"checks\":" + std::to_string(result.checks) +
                     ",\"failures\":" + std::to_string(result.failures) + ",\"digest\":\"" + digest +
                     "\",\"seconds\":" + number(seconds);
  if (!result.first_failure.empty()) line += ",\"first_failure\":" + quoted(result.first_failure);
  if (!result.skipped.empty()) line += ",\"skipped\":" + quoted(result.skipped);
  std::string figures;
  for (const auto& [key, value] : result.figures)
    figures += (figures.empty() ? "" : ",") + quoted(key) + ":" + number(value);
  if (!figures.empty()) line += ",\"figures\":{" + figures + "}";
  return line + "}";
}

}  // namespace promises
