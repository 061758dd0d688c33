// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/runtime.h"

#include <fmt/format.h>
#include <unistd.h>
#include <cstdlib>
#include <mutex>

#include "contract/contract.h"
#include "nccl_api/log.h"

namespace detccl::nccl_api {
namespace {

std::once_flag runtime_made;
Runtime* the_runtime = nullptr;

}  // namespace

Runtime::Runtime()
    : environment(Environment::read(environ)),
      real(RealLibrary::find(environment.configuration().nccl_library)),
      on_host(real.library.on_host()),
      checks_pointers(std::getenv("NCCL_CHECK_POINTERS") != nullptr) {
  const Configuration& c = environment.configuration();
  set_log_level(c.log);
  tracing = Tracing::make(c);
  if (!real.library.found()) {
    log_line(LogLevel::error, fmt::format("no NCCL library: {}", real.library.problem()));
  } else {
    log_line(LogLevel::info,
             fmt::format("DetCCL " DETCCL_VERSION " over {}{}; {}", real.library.path(),
                         on_host ? " (host memory)" : "",
                         c.disable ? "disabled" : "contract " + contract::to_string(c.contract)));
  }
}

Runtime& runtime() {
  std::call_once(runtime_made, [] { the_runtime = new Runtime; });
  return *the_runtime;
}

}  // namespace detccl::nccl_api
