// SPDX-License-Identifier: Apache-2.0
// Everything that is the real library's own business. As in NCCL, each function also has its pnccl name, by
// which a profiler that stands in front of nccl names reaches what is behind them: DetCCL, not past it.
#include "nccl_api/operate.h"

using detccl::nccl_api::Group;
using detccl::nccl_api::guarded;
using detccl::nccl_api::operate;
using detccl::nccl_api::passes_through;
using detccl::nccl_api::real;
using detccl::nccl_api::TracedCall;
using detccl::trace::Kind;

extern "C" {

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  return real().MemAlloc(ptr, size);
}

ncclResult_t ncclMemFree(void* ptr) {
  return real().MemFree(ptr);
}

ncclResult_t ncclGetVersion(int* version) {
  return real().GetVersion(version);
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  return real().GetUniqueId(uniqueId);
}

const char* ncclGetErrorString(ncclResult_t result) {
  return real().GetErrorString(result);
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return real().CommCount(comm, count);
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return real().CommCuDevice(comm, device);
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return real().CommUserRank(comm, rank);
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return real().CommRegister(comm, buff, size, handle);
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return real().CommDeregister(comm, handle);
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win,
                                    int winFlags) {
  return real().CommWindowRegister(comm, buff, size, win, winFlags);
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
  return real().CommWindowDeregister(comm, win);
}

const char* ncclGetLastError(ncclComm_t comm) {
  const char* ours = passes_through() ? nullptr : detccl::nccl_api::last_error();
  return ours != nullptr ? ours : real().GetLastError(comm);
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  const TracedCall traced{Kind::broadcast, buff, buff, count, datatype, -1, root};
  return operate(&traced, real().Bcast, comm, stream, buff, count, datatype, root);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  const TracedCall traced{Kind::broadcast, sendbuff, recvbuff, count, datatype, -1, root};
  return operate(&traced, real().Broadcast, comm, stream, sendbuff, recvbuff, count, datatype, root);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream) {
  const TracedCall traced{Kind::all_gather, sendbuff, recvbuff, sendcount, datatype, -1, -1};
  return operate(&traced, real().AllGather, comm, stream, sendbuff, recvbuff, sendcount, datatype);
}

ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                          ncclComm_t comm, cudaStream_t stream) {
  const TracedCall traced{Kind::all_to_all, sendbuff, recvbuff, count, datatype, -1, -1};
  return operate(&traced, real().AlltoAll, comm, stream, sendbuff, recvbuff, count, datatype);
}

ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  const TracedCall traced{Kind::gather, sendbuff, recvbuff, count, datatype, -1, root};
  return operate(&traced, real().Gather, comm, stream, sendbuff, recvbuff, count, datatype, root);
}

ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                         int root, ncclComm_t comm, cudaStream_t stream) {
  const TracedCall traced{Kind::scatter, sendbuff, recvbuff, count, datatype, -1, root};
  return operate(&traced, real().Scatter, comm, stream, sendbuff, recvbuff, count, datatype, root);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const TracedCall traced{Kind::send, sendbuff, nullptr, count, datatype, -1, peer};
  return operate(&traced, real().Send, comm, stream, sendbuff, count, datatype, peer);
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const TracedCall traced{Kind::recv, nullptr, recvbuff, count, datatype, -1, peer};
  return operate(&traced, real().Recv, comm, stream, recvbuff, count, datatype, peer);
}

ncclResult_t ncclGroupStart() {
  if (passes_through()) return real().GroupStart();
  return guarded([] { return Group::current().start(); });
}

ncclResult_t ncclGroupEnd() {
  if (passes_through()) return real().GroupEnd();
  return guarded([] { return Group::current().end(); });
}

ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* simInfo) {
  if (passes_through()) return real().GroupSimulateEnd(simInfo);
  return guarded([simInfo] { return Group::current().simulate_end(simInfo); });
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void ncclResetDebugInit() {
  real().ResetDebugInit();
}
decltype(ncclResetDebugInit) pncclResetDebugInit __attribute__((alias("ncclResetDebugInit")));
#pragma GCC diagnostic pop

decltype(ncclMemAlloc) pncclMemAlloc __attribute__((alias("ncclMemAlloc")));
decltype(ncclMemFree) pncclMemFree __attribute__((alias("ncclMemFree")));
decltype(ncclGetVersion) pncclGetVersion __attribute__((alias("ncclGetVersion")));
decltype(ncclGetUniqueId) pncclGetUniqueId __attribute__((alias("ncclGetUniqueId")));
decltype(ncclGetErrorString) pncclGetErrorString __attribute__((alias("ncclGetErrorString")));
decltype(ncclCommCount) pncclCommCount __attribute__((alias("ncclCommCount")));
decltype(ncclCommCuDevice) pncclCommCuDevice __attribute__((alias("ncclCommCuDevice")));
decltype(ncclCommUserRank) pncclCommUserRank __attribute__((alias("ncclCommUserRank")));
decltype(ncclCommRegister) pncclCommRegister __attribute__((alias("ncclCommRegister")));
decltype(ncclCommDeregister) pncclCommDeregister __attribute__((alias("ncclCommDeregister")));
decltype(ncclCommWindowRegister) pncclCommWindowRegister __attribute__((alias("ncclCommWindowRegister")));
decltype(ncclCommWindowDeregister) pncclCommWindowDeregister
    __attribute__((alias("ncclCommWindowDeregister")));
decltype(ncclGetLastError) pncclGetLastError __attribute__((alias("ncclGetLastError")));
decltype(ncclBcast) pncclBcast __attribute__((alias("ncclBcast")));
decltype(ncclBroadcast) pncclBroadcast __attribute__((alias("ncclBroadcast")));
decltype(ncclAllGather) pncclAllGather __attribute__((alias("ncclAllGather")));
decltype(ncclAlltoAll) pncclAlltoAll __attribute__((alias("ncclAlltoAll")));
decltype(ncclGather) pncclGather __attribute__((alias("ncclGather")));
decltype(ncclScatter) pncclScatter __attribute__((alias("ncclScatter")));
decltype(ncclSend) pncclSend __attribute__((alias("ncclSend")));
decltype(ncclRecv) pncclRecv __attribute__((alias("ncclRecv")));
decltype(ncclGroupStart) pncclGroupStart __attribute__((alias("ncclGroupStart")));
decltype(ncclGroupEnd) pncclGroupEnd __attribute__((alias("ncclGroupEnd")));
decltype(ncclGroupSimulateEnd) pncclGroupSimulateEnd __attribute__((alias("ncclGroupSimulateEnd")));
}
