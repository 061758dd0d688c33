// SPDX-License-Identifier: Apache-2.0
// The C border: nothing is thrown across it.
#pragma once

#include <new>

#include "hostnccl/error.h"

namespace detccl::hostnccl {

/// The result of `call()`, which returns an ncclResult_t, or the code of what it throws; the text becomes the
/// thread's last error.
template <typename Call>
ncclResult_t guarded(const Call& call) noexcept {
  try {
    return call();
  } catch (const Error& error) {
    set_last_error(error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    set_last_error("out of memory");
    return ncclSystemError;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return ncclInternalError;
  }
}

}  // namespace detccl::hostnccl
