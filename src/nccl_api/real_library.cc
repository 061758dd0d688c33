// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/real_library.h"

#include <dlfcn.h>

#include "nccl_api/driver.h"

namespace detccl::nccl_api {
namespace {

constexpr const char* kName = "libnccl.so.2";
constexpr const char* kProbe = "ncclGetVersion";

const char own_address = 0;

/// The file that holds `address`, and where it is mapped.
Dl_info object_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0) info = {};
  return info;
}

std::string beside_this_library() {
  const Dl_info own = object_of(&own_address);
  const std::string path = own.dli_fname != nullptr ? own.dli_fname : "";
  const std::size_t slash = path.rfind('/');
  return (slash == std::string::npos ? "." : path.substr(0, slash)) + "/hostnccl/" + kName;
}

}  // namespace

void* RealLibrary::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

bool RealLibrary::adopt(void* handle) {
  const void* probe = dlsym(handle, kProbe);
  const Dl_info object = object_of(probe);
  if (probe == nullptr || object.dli_fbase == object_of(&own_address).dli_fbase) return false;
  handle_ = handle;
  path_ = object.dli_fname != nullptr ? object.dli_fname : "";
  return true;
}

void RealLibrary::load(const std::string& file, int mode) {
  if (found()) return;
  void* handle = dlopen(file.c_str(), mode | RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr && adopt(handle)) return;
  if ((mode & RTLD_NOLOAD) != 0 && handle == nullptr) return;
  if (!problem_.empty()) problem_ += "; ";
  if (handle == nullptr) {
    const char* reason = dlerror();
    problem_ += reason != nullptr ? reason : file + " cannot be loaded";
  } else {
    problem_ += file + (dlsym(handle, kProbe) == nullptr ? " is no NCCL" : " is DetCCL itself");
    dlclose(handle);
  }
}

RealLibrary RealLibrary::find(const std::string& requested) {
  RealLibrary library;
  if (!requested.empty()) {
    library.load(requested, 0);
    return library;
  }
  if (library.adopt(RTLD_NEXT)) return library;
  library.load(kName, RTLD_NOLOAD);
  const bool driver = nvidia_driver_present();
  if (!driver) library.load(beside_this_library(), 0);
  library.load(kName, 0);
  if (driver) library.load(beside_this_library(), 0);
  return library;
}

}  // namespace detccl::nccl_api
