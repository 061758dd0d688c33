// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/operation.h"

#include <fmt/format.h>

namespace detccl::hostnccl {

const char* name(Kind kind) {
  switch (kind) {
    case Kind::all_reduce:
      return "AllReduce";
    case Kind::reduce_scatter:
      return "ReduceScatter";
    case Kind::reduce:
      return "Reduce";
    case Kind::all_gather:
      return "AllGather";
    case Kind::broadcast:
      return "Broadcast";
    case Kind::all_to_all:
      return "AlltoAll";
    case Kind::gather:
      return "Gather";
    case Kind::scatter:
      return "Scatter";
    case Kind::send:
      return "Send";
    case Kind::receive:
      return "Recv";
  }
  return "?";
}

std::string describe(const Operation& operation) {
  return fmt::format("{} of {} {}", name(operation.kind), operation.count, contract::name(operation.type));
}

}  // namespace detccl::hostnccl
