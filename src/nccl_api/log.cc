// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/log.h"

#include <fmt/format.h>
#include <unistd.h>
#include <array>
#include <atomic>

namespace detccl::nccl_api {
namespace {

std::atomic<LogLevel> log_level{LogLevel::warn};

}  // namespace

void set_log_level(LogLevel level) {
  log_level = level;
}

bool logs(LogLevel level) {
  return level <= log_level.load();
}

void log_line(LogLevel level, std::string_view text) {
  if (!logs(level)) return;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string line = fmt::format("detccl: {}:{}: {}\n", host.data(), getpid(), text);
  // A log line that cannot be written has nowhere to be reported.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace detccl::nccl_api
