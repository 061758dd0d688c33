// SPDX-License-Identifier: Apache-2.0
// The C border: collectives, send and receive.
#include "hostnccl/api.h"

#include "hostnccl/arguments.h"
#include "hostnccl/group.h"
#include "hostnccl/process.h"

namespace detccl::hostnccl {
namespace {

/// A checked call joins the thread's group, unless there is nothing to move: sends and receives of nothing
/// are posted all the same, they have partners.
ncclResult_t enqueue(ncclComm_t comm, const RawCall& call) noexcept {
  return grouped([&](Group& group) {
    const auto communicator = process().registry.find(comm);
    const Operation operation = checked(*communicator, call);
    if (operation.count != 0 || is_point_to_point(operation.kind)) group.add(communicator, operation);
  });
}

}  // namespace
}  // namespace detccl::hostnccl

using detccl::hostnccl::enqueue;
using detccl::hostnccl::Kind;

extern "C" {

ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                            ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::all_reduce, sendbuff, recvbuff, count, datatype, op, 0});
}

ncclResult_t pncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op, 0});
}

ncclResult_t pncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                         ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::reduce, sendbuff, recvbuff, count, datatype, op, root});
}

ncclResult_t pncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::all_gather, sendbuff, recvbuff, sendcount, datatype, 0, 0});
}

ncclResult_t pncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                            int root, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::broadcast, sendbuff, recvbuff, count, datatype, 0, root});
}

ncclResult_t pncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                        cudaStream_t) {
  return enqueue(comm, {Kind::broadcast, buff, buff, count, datatype, 0, root});
}

ncclResult_t pncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::all_to_all, sendbuff, recvbuff, count, datatype, 0, 0});
}

ncclResult_t pncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                         int root, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::gather, sendbuff, recvbuff, count, datatype, 0, root});
}

ncclResult_t pncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                          int root, ncclComm_t comm, cudaStream_t) {
  return enqueue(comm, {Kind::scatter, sendbuff, recvbuff, count, datatype, 0, root});
}

ncclResult_t pncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t) {
  return enqueue(comm, {Kind::send, sendbuff, nullptr, count, datatype, 0, peer});
}

ncclResult_t pncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t) {
  return enqueue(comm, {Kind::receive, nullptr, recvbuff, count, datatype, 0, peer});
}

}  // extern "C"

HOSTNCCL_EXPORT(ncclAllReduce);
HOSTNCCL_EXPORT(ncclReduceScatter);
HOSTNCCL_EXPORT(ncclReduce);
HOSTNCCL_EXPORT(ncclAllGather);
HOSTNCCL_EXPORT(ncclBroadcast);
HOSTNCCL_EXPORT(ncclBcast);
HOSTNCCL_EXPORT(ncclAlltoAll);
HOSTNCCL_EXPORT(ncclGather);
HOSTNCCL_EXPORT(ncclScatter);
HOSTNCCL_EXPORT(ncclSend);
HOSTNCCL_EXPORT(ncclRecv);
