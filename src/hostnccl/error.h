// SPDX-License-Identifier: Apache-2.0
// Errors inside the library: exceptions that carry NCCL's code. They are converted once, at the C border
// (border.h), where the text becomes what ncclGetLastError returns.
#pragma once

#include <stdexcept>
#include <string>

#include <nccl.h>

namespace detccl::hostnccl {

class Error : public std::runtime_error {
 public:
  Error(ncclResult_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ncclResult_t code() const { return code_; }

 private:
  ncclResult_t code_;
};

/// Keeps `text` as the calling thread's last error; also printed when NCCL_DEBUG asks for warnings.
void set_last_error(const std::string& text);

/// The calling thread's last error; empty when there was none.
const std::string& last_error();

/// NCCL's name of a code, as in "ncclInvalidArgument".
const char* code_name(ncclResult_t code);

}  // namespace detccl::hostnccl
