// SPDX-License-Identifier: Apache-2.0
// The one table of NCCL's functions: names, types and the real library's pointers.
#pragma once

#include <type_traits>
#include <utility>

#include "nccl_api/last_error.h"
#include "nccl_api/nccl_headers.h"
#include "nccl_api/real_library.h"

namespace detccl::nccl_api {

/// Marks the calling thread as inside the real library: NCCL reaches some of its own exports by their public
/// names, which lead here, and such an inner call must go straight back to it.
class InsideReal {
 public:
  InsideReal() { ++depth_; }
  ~InsideReal() { --depth_; }
  InsideReal(const InsideReal&) = delete;
  InsideReal& operator=(const InsideReal&) = delete;
  static bool now() { return depth_ > 0; }

 private:
  static constinit thread_local int depth_;  // constinit: no initialiser to be called at each use
};

/// What a call returns where the real library has no function `name` (or there is no library).
ncclResult_t missing_function(const RealLibrary& library, const char* name);

/// A function of the real library.
template <class Signature>
class Entry;

template <class Result, class... Arguments>
class Entry<Result(Arguments...)> {
 public:
  Entry(const RealLibrary& library, const char* name)
      : library_(library),
        name_(name),
        function_(reinterpret_cast<Result (*)(Arguments...)>(library.symbol(name))) {}

  bool available() const { return function_ != nullptr; }

  Result operator()(Arguments... arguments) const {
    if (function_ == nullptr) return missing();
    const InsideReal inside;
    if constexpr (std::is_same_v<Result, ncclResult_t>) {
      const ncclResult_t result = function_(std::forward<Arguments>(arguments)...);
      if (result != ncclSuccess && result != ncclInProgress) real_library_failed();
      return result;
    } else {
      return function_(std::forward<Arguments>(arguments)...);
    }
  }

 private:
  Result missing() const {
    const ncclResult_t code = missing_function(library_, name_);
    if constexpr (std::is_same_v<Result, ncclResult_t>) {
      return code;
    } else if constexpr (std::is_same_v<Result, const char*>) {
      return "not known to DetCCL: the real NCCL has no text for it";
    }
  }

  const RealLibrary& library_;
  const char* name_;
  Result (*function_)(Arguments...);
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // ncclResetDebugInit is still exported
struct RealNccl {
  explicit RealNccl(RealLibrary found) : library(std::move(found)) {}
  RealNccl(const RealNccl&) = delete;
  RealNccl& operator=(const RealNccl&) = delete;

  RealLibrary library;
  Entry<decltype(ncclMemAlloc)> MemAlloc{library, "ncclMemAlloc"};
  Entry<decltype(ncclMemFree)> MemFree{library, "ncclMemFree"};
  Entry<decltype(ncclGetVersion)> GetVersion{library, "ncclGetVersion"};
  Entry<decltype(ncclGetUniqueId)> GetUniqueId{library, "ncclGetUniqueId"};
  Entry<decltype(ncclCommInitRankConfig)> CommInitRankConfig{library, "ncclCommInitRankConfig"};
  Entry<decltype(ncclCommInitRank)> CommInitRank{library, "ncclCommInitRank"};
  Entry<decltype(ncclCommInitAll)> CommInitAll{library, "ncclCommInitAll"};
  Entry<decltype(ncclCommFinalize)> CommFinalize{library, "ncclCommFinalize"};
  Entry<decltype(ncclCommDestroy)> CommDestroy{library, "ncclCommDestroy"};
  Entry<decltype(ncclCommAbort)> CommAbort{library, "ncclCommAbort"};
  Entry<decltype(ncclCommRevoke)> CommRevoke{library, "ncclCommRevoke"};
  Entry<decltype(ncclCommSplit)> CommSplit{library, "ncclCommSplit"};
  Entry<decltype(ncclCommShrink)> CommShrink{library, "ncclCommShrink"};
  Entry<decltype(ncclCommInitRankScalable)> CommInitRankScalable{library, "ncclCommInitRankScalable"};
  Entry<decltype(ncclGetErrorString)> GetErrorString{library, "ncclGetErrorString"};
  Entry<decltype(ncclGetLastError)> GetLastError{library, "ncclGetLastError"};
  Entry<decltype(ncclResetDebugInit)> ResetDebugInit{library, "ncclResetDebugInit"};
  Entry<decltype(ncclCommGetAsyncError)> CommGetAsyncError{library, "ncclCommGetAsyncError"};
  Entry<decltype(ncclCommCount)> CommCount{library, "ncclCommCount"};
  Entry<decltype(ncclCommCuDevice)> CommCuDevice{library, "ncclCommCuDevice"};
  Entry<decltype(ncclCommUserRank)> CommUserRank{library, "ncclCommUserRank"};
  Entry<decltype(ncclCommRegister)> CommRegister{library, "ncclCommRegister"};
  Entry<decltype(ncclCommDeregister)> CommDeregister{library, "ncclCommDeregister"};
  Entry<decltype(ncclCommWindowRegister)> CommWindowRegister{library, "ncclCommWindowRegister"};
  Entry<decltype(ncclCommWindowDeregister)> CommWindowDeregister{library, "ncclCommWindowDeregister"};
  Entry<decltype(ncclRedOpCreatePreMulSum)> RedOpCreatePreMulSum{library, "ncclRedOpCreatePreMulSum"};
  Entry<decltype(ncclRedOpDestroy)> RedOpDestroy{library, "ncclRedOpDestroy"};
  Entry<decltype(ncclReduce)> Reduce{library, "ncclReduce"};
  Entry<decltype(ncclBcast)> Bcast{library, "ncclBcast"};
  Entry<decltype(ncclBroadcast)> Broadcast{library, "ncclBroadcast"};
  Entry<decltype(ncclAllReduce)> AllReduce{library, "ncclAllReduce"};
  Entry<decltype(ncclReduceScatter)> ReduceScatter{library, "ncclReduceScatter"};
  Entry<decltype(ncclAllGather)> AllGather{library, "ncclAllGather"};
  Entry<decltype(ncclAlltoAll)> AlltoAll{library, "ncclAlltoAll"};
  Entry<decltype(ncclGather)> Gather{library, "ncclGather"};
  Entry<decltype(ncclScatter)> Scatter{library, "ncclScatter"};
  Entry<decltype(ncclSend)> Send{library, "ncclSend"};
  Entry<decltype(ncclRecv)> Recv{library, "ncclRecv"};
  Entry<decltype(ncclGroupStart)> GroupStart{library, "ncclGroupStart"};
  Entry<decltype(ncclGroupEnd)> GroupEnd{library, "ncclGroupEnd"};
  Entry<decltype(ncclGroupSimulateEnd)> GroupSimulateEnd{library, "ncclGroupSimulateEnd"};
};
#pragma GCC diagnostic pop

}  // namespace detccl::nccl_api
