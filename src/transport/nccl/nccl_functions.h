// SPDX-License-Identifier: Apache-2.0
// The functions of NCCL that the transport calls: whose they are is the caller's business.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace detccl::transport {

/// As in nccl.h.
struct NcclFunctions {
  ncclResult_t (*group_start)() = nullptr;
  ncclResult_t (*group_end)() = nullptr;
  ncclResult_t (*send)(const void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) = nullptr;
  ncclResult_t (*receive)(void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) = nullptr;
  ncclResult_t (*all_gather)(const void*, void*, std::size_t, ncclDataType_t, ncclComm_t,
                             cudaStream_t) = nullptr;
  ncclResult_t (*destroy)(ncclComm_t) = nullptr;
  ncclResult_t (*abort)(ncclComm_t) = nullptr;
  ncclResult_t (*get_async_error)(ncclComm_t, ncclResult_t*) = nullptr;
  const char* (*get_error_string)(ncclResult_t) = nullptr;
};

/// A call of NCCL that failed.
class NcclError : public std::runtime_error {
 public:
  NcclError(ncclResult_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ncclResult_t code() const { return code_; }

 private:
  ncclResult_t code_;
};

}  // namespace detccl::transport
