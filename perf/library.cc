// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace detccl::perf {
namespace {

template <typename F>
void find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
}

}  // namespace

int Library::version_code() const {
  int code = 0;
  return get_version(&code) == ncclSuccess ? code : 0;
}

std::string Library::version() const {
  const int code = version_code();
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

Library load_library(const std::string& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw UsageError(reason != nullptr ? reason : file + ": cannot be loaded");
  }
  Library library;
  find(handle, "ncclGetVersion", library.get_version);
  find(handle, "ncclGetUniqueId", library.get_unique_id);
  find(handle, "ncclCommInitRank", library.comm_init_rank);
  find(handle, "ncclCommDestroy", library.comm_destroy);
  find(handle, "ncclCommAbort", library.comm_abort);
  find(handle, "ncclAllReduce", library.all_reduce);
  find(handle, "ncclReduceScatter", library.reduce_scatter);
  find(handle, "ncclReduce", library.reduce);
  find(handle, "ncclAllGather", library.all_gather);
  find(handle, "ncclBroadcast", library.broadcast);
  find(handle, "ncclSend", library.send);
  find(handle, "ncclRecv", library.recv);
  find(handle, "ncclGroupStart", library.group_start);
  find(handle, "ncclGroupEnd", library.group_end);
  find(handle, "ncclGetErrorString", library.error_string);
  find(handle, "ncclGetLastError", library.last_error);
  find(handle, "detcclObserve", library.observe);
  if (!library.get_version || !library.get_unique_id || !library.comm_init_rank || !library.comm_destroy ||
      !library.comm_abort || !library.all_reduce || !library.reduce_scatter || !library.reduce ||
      !library.all_gather || !library.broadcast || !library.send || !library.recv || !library.group_start ||
      !library.group_end || !library.error_string)
    throw UsageError(file + " is no NCCL");
  Dl_info info{};
  const bool known = dladdr(reinterpret_cast<const void*>(library.all_reduce), &info) != 0;
  library.path = known && info.dli_fname != nullptr ? info.dli_fname : file;
  return library;
}

Communicator::Communicator(const Library& library, Job& job) : library_(library) {
  ncclUniqueId id{};
  if (job.rank() == 0) check(library_.get_unique_id(&id), "ncclGetUniqueId");
  job.broadcast(&id, sizeof id);
  check(library_.comm_init_rank(&comm_, job.ranks(), id, job.rank()), "ncclCommInitRank");
}

Communicator::~Communicator() {
  if (comm_ != nullptr) library_.comm_abort(comm_);
}

void Communicator::finish() {
  const ncclResult_t result = library_.comm_destroy(comm_);
  comm_ = nullptr;
  check(result, "ncclCommDestroy");
}

void Communicator::check(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess) return;
  std::string message = std::string(call) + ": " + library_.error_string(result);
  const char* detail = library_.last_error != nullptr ? library_.last_error(comm_) : nullptr;
  if (detail != nullptr && *detail != '\0') message += std::string(" (") + detail + ")";
  throw std::runtime_error(message);
}

}  // namespace detccl::perf
