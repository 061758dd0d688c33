// SPDX-License-Identifier: Apache-2.0
// The C border: exceptions become NCCL's codes here, and nowhere else.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "nccl_api/last_error.h"

namespace detccl::nccl_api {

/// Calls `body`, which returns a code. What it throws becomes one.
template <class Body>
ncclResult_t guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(ncclSystemError, "out of memory");
  } catch (const std::system_error& e) {
    return fail(ncclSystemError, e.what());
  } catch (const std::invalid_argument& e) {
    return fail(ncclInvalidArgument, e.what());
  } catch (const std::exception& e) {
    return fail(ncclInternalError, e.what());
  }
}

}  // namespace detccl::nccl_api
