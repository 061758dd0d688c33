// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/last_error.h"

#include <array>
#include <atomic>
#include <mutex>

#include "nccl_api/log.h"

namespace detccl::nccl_api {
namespace {

using Text = std::array<char, 1024>;

std::mutex text_mutex;
Text text{};
std::atomic<bool> ours{false};
thread_local Text copy{};

}  // namespace

ncclResult_t fail(ncclResult_t code, std::string_view line) {
  {
    const std::lock_guard lock(text_mutex);
    const std::size_t length = line.copy(text.data(), text.size() - 1);
    text[length] = '\0';
    ours = true;
  }
  log_line(LogLevel::error, line);
  return code;
}

void real_library_failed() {
  ours = false;
}

KeepLastError::KeepLastError() : ours_(ours) {
}

KeepLastError::~KeepLastError() {
  ours = ours_;
}

const char* last_error() {
  if (!ours) return nullptr;
  const std::lock_guard lock(text_mutex);
  copy = text;
  return copy.data();
}

}  // namespace detccl::nccl_api
