// SPDX-License-Identifier: Apache-2.0
// What ncclGetLastError tells: DetCCL's text where the last failure was DetCCL's.
#pragma once

#include <string>
#include <string_view>

#include "nccl_api/nccl_headers.h"

namespace detccl::nccl_api {

/// Notes and logs a failure of DetCCL, and returns `code`. Any thread.
ncclResult_t fail(ncclResult_t code, std::string_view text);

/// The last failure was the real library's.
void real_library_failed();

/// Calls of the real library in its scope, made on the way out of a failure, do not count as the last
/// failure.
class KeepLastError {
 public:
  KeepLastError();
  ~KeepLastError();
  KeepLastError(const KeepLastError&) = delete;
  KeepLastError& operator=(const KeepLastError&) = delete;

 private:
  bool ours_;
};

/// DetCCL's text, or nullptr where the last failure was not DetCCL's. Valid until the thread's next call.
const char* last_error();

}  // namespace detccl::nccl_api
