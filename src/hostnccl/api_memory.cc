// SPDX-License-Identifier: Apache-2.0
// The C border: memory and the registration of buffers.
#include "hostnccl/api.h"

#include <cstdint>

#include <fmt/format.h>

#include "hostnccl/border.h"
#include "hostnccl/group.h"
#include "hostnccl/process.h"

namespace detccl::hostnccl {
namespace {

void check_window(const void* data, int flags) {
  if (flags != NCCL_WIN_DEFAULT && flags != NCCL_WIN_COLL_SYMMETRIC) {
    throw Error(ncclInvalidArgument, fmt::format("CommWindowRegister: there are no flags {}", flags));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % NCCL_WIN_REQUIRED_ALIGNMENT != 0) {
    throw Error(ncclInvalidArgument, fmt::format("CommWindowRegister: the buffer must be aligned to {} bytes",
                                                 NCCL_WIN_REQUIRED_ALIGNMENT));
  }
}

void* register_buffer(ncclComm_t comm, void* data, std::size_t bytes) {
  const auto communicator = process().registry.find(comm);
  communicator->check_usable();
  if (data == nullptr || bytes == 0)
    throw Error(ncclInvalidArgument, "the buffer to register is NULL or empty");
  return communicator->registrations.add({data, bytes});
}

void deregister_buffer(ncclComm_t comm, void* handle) {
  const auto communicator = process().registry.find(comm);
  if (handle != nullptr && !communicator->registrations.remove(handle)) {
    throw Error(ncclInvalidArgument, "the communicator has no such registration");
  }
}

}  // namespace
}  // namespace detccl::hostnccl

using namespace detccl::hostnccl;

extern "C" {

ncclResult_t pncclMemAlloc(void** ptr, size_t size) {
  return guarded([&] {
    if (ptr == nullptr) throw Error(ncclInvalidArgument, "the pointer to the new memory is NULL");
    *ptr = process().memory.allocate(size);
    return ncclSuccess;
  });
}

ncclResult_t pncclMemFree(void* ptr) {
  return guarded([&] {
    process().memory.free(ptr);
    return ncclSuccess;
  });
}

ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return guarded([&] {
    if (handle == nullptr) throw Error(ncclInvalidArgument, "the pointer to the handle is NULL");
    *handle = register_buffer(comm, buff, size);
    return ncclSuccess;
  });
}

ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle) {
  return guarded([&] {
    deregister_buffer(comm, handle);
    return ncclSuccess;
  });
}

ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win,
                                     int winFlags) {
  return grouped([&](Group&) {
    if (win == nullptr) throw Error(ncclInvalidArgument, "the pointer to the window is NULL");
    check_window(buff, winFlags);
    *win = static_cast<ncclWindow_t>(register_buffer(comm, buff, size));
  });
}

ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
  return guarded([&] {
    deregister_buffer(comm, win);
    return ncclSuccess;
  });
}

}  // extern "C"

HOSTNCCL_EXPORT(ncclMemAlloc);
HOSTNCCL_EXPORT(ncclMemFree);
HOSTNCCL_EXPORT(ncclCommRegister);
HOSTNCCL_EXPORT(ncclCommDeregister);
HOSTNCCL_EXPORT(ncclCommWindowRegister);
HOSTNCCL_EXPORT(ncclCommWindowDeregister);
