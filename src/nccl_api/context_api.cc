// SPDX-License-Identifier: Apache-2.0
// The program's context for traces and profiles: what it says itself, and its NVTX ranges.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "nccl_api/border.h"
#include "recorder/context.h"
#include "recorder/nvtx.h"

#pragma GCC visibility push(default)
#include "detccl/detccl.h"
extern "C" int InitializeInjectionNvtx2(const void* (*get_export_table)(unsigned int));
#pragma GCC visibility pop

namespace detccl::nccl_api {
namespace {

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

/// Whether the program's NCCL is to open DetCCL's profiler plugin, which wants to hear of steps.
bool is_profiled() {
  const char* plugin = std::getenv("NCCL_PROFILER_PLUGIN");
  return plugin != nullptr && std::strstr(plugin, "detccl") != nullptr;
}

const char own_address = 0;

/// When the library is loaded, so before the program's first NVTX call.
[[gnu::constructor]] void listen_to_nvtx() {
  Dl_info own{};
  if ((!is_on("DETCCL_TRACE") && !is_profiled()) || dladdr(&own_address, &own) == 0) return;
  guarded([&own] {
    recorder::inject_nvtx(own.dli_fname);
    return ncclSuccess;
  });
}

}  // namespace
}  // namespace detccl::nccl_api

extern "C" {

void detcclMarkStep(unsigned int step) {
  detccl::recorder::set_step(step);
}

void detcclMark(const char* phase) {
  detccl::nccl_api::guarded([phase] {
    detccl::recorder::set_phase(phase != nullptr ? phase : "");
    return ncclSuccess;
  });
}

int InitializeInjectionNvtx2(const void* (*get_export_table)(unsigned int)) {
  int result = 0;
  detccl::nccl_api::guarded([&] {
    result = detccl::recorder::initialize_nvtx(get_export_table);
    return ncclSuccess;
  });
  return result;
}
}
