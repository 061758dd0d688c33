// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/error.h"

#include <strings.h>

#include <cstdio>
#include <cstdlib>

namespace detccl::hostnccl {
namespace {

thread_local std::string thread_last_error;

bool warnings_wanted() {
  const char* debug = std::getenv("NCCL_DEBUG");
  if (debug == nullptr) return false;
  for (const char* level : {"WARN", "INFO", "TRACE"}) {
    if (strcasecmp(debug, level) == 0) return true;
  }
  return false;
}

}  // namespace

void set_last_error(const std::string& text) {
  thread_last_error = text;
  if (warnings_wanted()) std::fprintf(stderr, "hostnccl WARN %s\n", text.c_str());
}

const std::string& last_error() {
  return thread_last_error;
}

const char* code_name(ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "ncclSuccess";
    case ncclUnhandledCudaError:
      return "ncclUnhandledCudaError";
    case ncclSystemError:
      return "ncclSystemError";
    case ncclInternalError:
      return "ncclInternalError";
    case ncclInvalidArgument:
      return "ncclInvalidArgument";
    case ncclInvalidUsage:
      return "ncclInvalidUsage";
    case ncclRemoteError:
      return "ncclRemoteError";
    case ncclInProgress:
      return "ncclInProgress";
    default:
      return "unknown result code";
  }
}

}  // namespace detccl::hostnccl
