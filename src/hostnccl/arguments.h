// SPDX-License-Identifier: Apache-2.0
// Argument checks of operations, in NCCL's order and with NCCL's codes:
//   communicator null or unknown         ncclInvalidArgument
//   revoked                              ncclInvalidUsage
//   still being made                     ncclInvalidArgument
//   failed                               its error
//   root or peer, type, operation, user's operation (unknown, of another type), buffer   ncclInvalidArgument
#pragma once

#include <cstddef>
#include <memory>

#include "hostnccl/communicator.h"
#include "hostnccl/operation.h"

namespace detccl::hostnccl {

/// A call as it came. `op` is used by reductions only, `root` where the collective has one.
struct RawCall {
  Kind kind = Kind::all_reduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  int type = 0;
  int op = 0;
  int root = 0;
};

/// Throws Error. A call with count 0 is checked like any other.
Operation checked(Communicator& communicator, const RawCall& call);

/// Makes a user's operation (PreMulSum). Throws Error.
ncclRedOp_t create_user_op(Communicator& communicator, const void* scalar, int type, int residence);

/// Throws Error for a built-in operation or one that the communicator does not have.
void destroy_user_op(Communicator& communicator, int op);

}  // namespace detccl::hostnccl
