// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/arguments.h"

#include <cstring>

#include <fmt/format.h>

namespace detccl::hostnccl {
namespace {

bool has_root(Kind kind) {
  switch (kind) {
    case Kind::all_reduce:
    case Kind::reduce_scatter:
    case Kind::all_gather:
    case Kind::all_to_all:
      return false;
    default:
      return true;
  }
}

bool is_reduction(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce_scatter || kind == Kind::reduce;
}

contract::DataType checked_type(int type, const char* call) {
  if (type < 0 || type >= ncclNumTypes) {
    throw Error(ncclInvalidArgument,
                fmt::format("{}: datatype {}: allowed is 0 to {}", call, type, ncclNumTypes - 1));
  }
  return static_cast<contract::DataType>(type);
}

void check_root(const Communicator& communicator, const RawCall& call) {
  if (call.root >= 0 && static_cast<std::uint32_t>(call.root) < communicator.size()) return;
  throw Error(ncclInvalidArgument, fmt::format("{}: {} {}: allowed is 0 to {}", name(call.kind),
                                               is_point_to_point(call.kind) ? "peer" : "root", call.root,
                                               communicator.size() - 1));
}

void set_op(Operation& operation, const Communicator& communicator, const RawCall& call) {
  if (call.op < 0)
    throw Error(ncclInvalidArgument, fmt::format("{}: there is no operation {}", name(call.kind), call.op));
  if (call.op < ncclNumOps) {
    operation.op = static_cast<contract::Op>(call.op);
    return;
  }
  const auto user_op = communicator.user_ops.find(call.op);
  if (!user_op) {
    throw Error(ncclInvalidArgument,
                fmt::format("{}: the communicator has no operation {}", name(call.kind), call.op));
  }
  if (user_op->type != operation.type) {
    throw Error(ncclInvalidArgument,
                fmt::format("{}: the operation was made for {}, the data are {}", name(call.kind),
                            contract::name(user_op->type), contract::name(operation.type)));
  }
  operation.op = contract::Op::premulsum;
  operation.scalar = user_op->scalar;
  operation.deferred_scalar = user_op->deferred_scalar;
}

/// Which buffers this rank must have.
void check_buffers(const Communicator& communicator, const RawCall& call) {
  const bool at_root = has_root(call.kind) && static_cast<std::uint32_t>(call.root) == communicator.rank();
  const bool sends =
      call.kind != Kind::receive && (at_root || (call.kind != Kind::broadcast && call.kind != Kind::scatter));
  const bool receives =
      call.kind != Kind::send && (at_root || (call.kind != Kind::reduce && call.kind != Kind::gather));
  if ((sends || call.kind == Kind::send) && call.send == nullptr) {
    throw Error(ncclInvalidArgument, fmt::format("{}: sendbuff is NULL", name(call.kind)));
  }
  if ((receives || call.kind == Kind::receive) && call.receive == nullptr) {
    throw Error(ncclInvalidArgument, fmt::format("{}: recvbuff is NULL", name(call.kind)));
  }
}

}  // namespace

Operation checked(Communicator& communicator, const RawCall& call) {
  communicator.check_usable();
  if (has_root(call.kind)) check_root(communicator, call);
  Operation operation{call.kind, call.send, call.receive, call.count};
  operation.type = checked_type(call.type, name(call.kind));
  if (is_reduction(call.kind)) set_op(operation, communicator, call);
  operation.root = static_cast<std::uint32_t>(call.root);
  const std::size_t ranks = communicator.size();
  if (call.count > SIZE_MAX / ranks / contract::size_of(operation.type)) {
    throw Error(ncclInvalidArgument, fmt::format("{}: count {} is too large", name(call.kind), call.count));
  }
  if (call.count != 0) check_buffers(communicator, call);
  return operation;
}

ncclRedOp_t create_user_op(Communicator& communicator, const void* scalar, int type, int residence) {
  communicator.check_usable();
  if (scalar == nullptr) throw Error(ncclInvalidArgument, "RedOpCreatePreMulSum: scalar is NULL");
  UserOp op;
  op.type = checked_type(type, "RedOpCreatePreMulSum");
  if (residence == ncclScalarHostImmediate) {
    std::memcpy(&op.scalar, scalar, contract::size_of(op.type));
  } else if (residence == ncclScalarDevice) {
    op.deferred_scalar = scalar;  // "device" memory is host memory here
  } else {
    throw Error(ncclInvalidArgument,
                fmt::format("RedOpCreatePreMulSum: there is no scalar residence {}", residence));
  }
  return communicator.user_ops.add(op);
}

void destroy_user_op(Communicator& communicator, int op) {
  if (op >= 0 && op < ncclNumOps) {
    throw Error(ncclInvalidArgument, fmt::format("RedOpDestroy: operation {} is built in", op));
  }
  if (!communicator.user_ops.remove(op)) {
    throw Error(ncclInvalidArgument, fmt::format("RedOpDestroy: the communicator has no operation {}", op));
  }
}

}  // namespace detccl::hostnccl
