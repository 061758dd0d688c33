// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace detccl::perf {
namespace {

template <typename F>
void find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  if (function == nullptr) throw std::runtime_error(std::string("the native NCCL has no ") + name);
}

}  // namespace

Library detccl_library() {
  return {ncclGetUniqueId, ncclCommInitRank,   ncclCommDestroy, ncclCommAbort,
          ncclAllReduce,   ncclGetErrorString, ncclGetLastError};
}

Library native_library() {
  void* handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) throw std::runtime_error("no libnccl.so.2 is loaded: nothing native to time");
  Library library{};
  find(handle, "ncclGetUniqueId", library.get_unique_id);
  find(handle, "ncclCommInitRank", library.comm_init_rank);
  find(handle, "ncclCommDestroy", library.comm_destroy);
  find(handle, "ncclCommAbort", library.comm_abort);
  find(handle, "ncclAllReduce", library.all_reduce);
  find(handle, "ncclGetErrorString", library.error_string);
  find(handle, "ncclGetLastError", library.last_error);
  return library;
}

Communicator::Communicator(const Library& library, const Job& job) : library_(library) {
  ncclUniqueId id{};
  if (job.rank() == 0) check(library_.get_unique_id(&id), "ncclGetUniqueId");
  job.broadcast(&id, sizeof id);
  check(library_.comm_init_rank(&comm_, job.ranks(), id, job.rank()), "ncclCommInitRank");
}

Communicator::~Communicator() {
  if (comm_ != nullptr) library_.comm_abort(comm_);
}

void Communicator::all_reduce(const void* send, void* receive, std::uint64_t count, contract::DataType type,
                              contract::Op op) const {
  check(library_.all_reduce(send, receive, count, static_cast<ncclDataType_t>(type),
                            static_cast<ncclRedOp_t>(op), comm_, nullptr),
        "ncclAllReduce");
}

void Communicator::finish() {
  const ncclResult_t result = library_.comm_destroy(comm_);
  comm_ = nullptr;
  check(result, "ncclCommDestroy");
}

void Communicator::check(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess) return;
  std::string message = std::string(call) + ": " + library_.error_string(result);
  const char* detail = library_.last_error(comm_);
  if (detail != nullptr && *detail != '\0') message += std::string(" (") + detail + ")";
  throw std::runtime_error(message);
}

}  // namespace detccl::perf
