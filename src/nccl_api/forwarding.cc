// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/forwarding.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "nccl_api/border.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

/// Those that return something else than a code.
constexpr std::array<std::string_view, 10> kWithoutCode = {
    "ncclLLA2ACalcSlots", "ncclParamDumpAll",    "ncclResetDebugInitInternal",
    "ncclTeamCft",        "ncclTeamCftMultimem", "ncclTeamLsa",
    "ncclTeamRail",       "ncclTeamRankToLsa",   "ncclTeamRankToWorld",
    "ncclTeamWorld",
};

/// As large as the largest of their results: a team, three numbers, in two registers.
struct Zeros {
  std::uint64_t first = 0, second = 0;
};

Zeros return_zeros() {
  return {};
}

ncclResult_t return_invalid_usage() {
  return ncclInvalidUsage;
}

ncclResult_t return_system_error() {
  return ncclSystemError;
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace
}  // namespace detccl::nccl_api

void* detccl_forward_resolve(const char* name, void** slot) noexcept {
  using namespace detccl::nccl_api;
  void* function = nullptr;
  const ncclResult_t result = guarded([&] {
    function = real().library.symbol(name);
    return function != nullptr ? ncclSuccess : missing_function(real().library, name);
  });
  if (function != nullptr) {
    std::atomic_ref(*slot).store(function, std::memory_order_release);
    return function;
  }
  if (std::ranges::find(kWithoutCode, name) != kWithoutCode.end()) return address_of(return_zeros);
  return result == ncclInvalidUsage ? address_of(return_invalid_usage) : address_of(return_system_error);
}
