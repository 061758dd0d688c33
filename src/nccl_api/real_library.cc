// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/real_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "nccl_api/driver.h"
#include "nccl_api/loaded_objects.h"
#include "nccl_api/search_path.h"

namespace detccl::nccl_api {
namespace {

constexpr const char* kProbe = "ncclGetVersion";
constexpr const char* kDetcclProbe = "detcclVersion";

const char own_address = 0;

/// The file that holds `address`, and where it is mapped.
Dl_info object_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) info = {};
  return info;
}

bool is_own(const void* address) {
  return object_of(address).dli_fbase == object_of(&own_address).dli_fbase;
}

/// Whether the object that has the function `probe` is a DetCCL: this one, or the shim, or another build.
bool is_detccl(const Dl_info& object) {
  void* handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  const bool yes = object_of(dlsym(handle, kDetcclProbe)).dli_fbase == object.dli_fbase;
  dlclose(handle);
  return yes;
}

/// The folder of this library.
std::string own_folder() {
  const Dl_info own = object_of(&own_address);
  const std::string path = own.dli_fname != nullptr ? own.dli_fname : "";
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

void* RealLibrary::symbol(const char* name) const {
  void* address = handle_ == nullptr ? nullptr : dlsym(handle_, name);
  return address == nullptr || is_own(address) ? nullptr : address;
}

bool RealLibrary::adopt(void* handle) {
  const void* probe = dlsym(handle, kProbe);
  const Dl_info object = object_of(probe);
  if (object.dli_fname == nullptr || is_own(probe) || is_detccl(object)) return false;
  handle_ = handle;
  path_ = object.dli_fname;
  return true;
}

void RealLibrary::note_problem(const std::string& text) {
  problem_ += (problem_.empty() ? "" : "; ") + text;
}

void RealLibrary::load(const std::string& file) {
  if (found()) return;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    note_problem(reason != nullptr ? reason : file + " cannot be loaded");
  } else if (!adopt(handle)) {
    note_problem(file + (dlsym(handle, kProbe) == nullptr ? " is no NCCL" : " is DetCCL itself"));
    dlclose(handle);
  }
}

void RealLibrary::adopt_loaded() {
  for (const LoadedObject& object : loaded_objects()) {
    if (found()) return;
    void* handle = dlopen(object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    // What is found on the handle may also be another object's, one that this one needs.
    const char* file = object_of(dlsym(handle, kProbe)).dli_fname;
    if (file == nullptr || file != object.path || !adopt(handle)) dlclose(handle);
  }
}

void RealLibrary::search(const std::string& name) {
  load(name);
  if (found()) return;
  for (const std::string& file : search_path(name))
    load(file);
}

void RealLibrary::load_host_library() {
  for (const char* folder : {"/hostnccl/", "/../hostnccl/"}) {
    const std::string file = own_folder() + folder + std::string(kNcclName);
    if (access(file.c_str(), R_OK) == 0) load(file);
  }
}

RealLibrary RealLibrary::find(const std::string& requested) {
  RealLibrary library;
  if (requested.find('/') != std::string::npos) {
    library.load(requested);
    return library;
  }
  if (!requested.empty()) {
    library.search(requested);
    return library;
  }
  if (library.adopt(RTLD_NEXT)) return library;
  library.adopt_loaded();
  if (library.found()) return library;
  const bool driver = nvidia_driver_present();
  if (!driver) library.load_host_library();
  if (!library.found()) library.search(std::string(kNcclName));
  if (driver) library.load_host_library();
  return library;
}

}  // namespace detccl::nccl_api
