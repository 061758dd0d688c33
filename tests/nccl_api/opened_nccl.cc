// SPDX-License-Identifier: Apache-2.0
// NCCL's functions for a program that is not linked with it: they are looked up on the handle of the library
// that the variable CLIENT_NCCL names, by default libnccl.so.2.
#include <dlfcn.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>

namespace {

void* open_library() {
  const char* name = std::getenv("CLIENT_NCCL");
  void* handle = dlopen(name == nullptr ? "libnccl.so.2" : name, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  std::fprintf(stderr, "%s\n", dlerror());
  std::exit(3);
}

template <class Function>
Function* find(Function*, const char* name) {
  static void* const handle = open_library();
  void* address = dlsym(handle, name);
  if (address != nullptr) return reinterpret_cast<Function*>(address);
  std::fprintf(stderr, "%s\n", dlerror());
  std::exit(3);
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return find(ncclGetUniqueId, "ncclGetUniqueId")(id);
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return find(ncclCommInitRank, "ncclCommInitRank")(comm, ranks, id, rank);
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return find(ncclAllReduce, "ncclAllReduce")(send, receive, count, type, op, comm, stream);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return find(ncclCommDestroy, "ncclCommDestroy")(comm);
}

const char* ncclGetErrorString(ncclResult_t result) {
  return find(ncclGetErrorString, "ncclGetErrorString")(result);
}

const char* ncclGetLastError(ncclComm_t comm) {
  return find(ncclGetLastError, "ncclGetLastError")(comm);
}
}
