// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/loaded_objects.h"

#include <link.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "nccl_api/real_library.h"

namespace detccl::nccl_api {
namespace {

std::string program() {
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).string();
}

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where the loader has mapped it
    return reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  }
  return nullptr;
}

const char* string_table(const dl_phdr_info& info, const ElfW(Dyn) * dynamic) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag != DT_STRTAB) continue;
    // The loader turns it into an address, except where the section is read-only.
    const ElfW(Addr) value = dynamic->d_un.d_ptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<const char*>(value < info.dlpi_addr ? info.dlpi_addr + value : value);
  }
  return nullptr;
}

void read_dynamic(const dl_phdr_info& info, LoadedObject& object) {
  const ElfW(Dyn)* dynamic = dynamic_section(info);
  const char* strings = dynamic == nullptr ? nullptr : string_table(info, dynamic);
  if (strings == nullptr) return;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const ElfW(Xword) offset = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_NEEDED && strings + offset == kNcclName) object.needs_nccl = true;
    if (dynamic->d_tag == DT_RPATH) object.rpath = strings + offset;
    if (dynamic->d_tag == DT_RUNPATH) object.runpath = strings + offset;
  }
  if (!object.runpath.empty()) object.rpath.clear();  // the loader does not look at it then
}

int add(dl_phdr_info* info, std::size_t, void* objects) {
  auto& list = *static_cast<std::vector<LoadedObject>*>(objects);
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (name.starts_with("linux-vdso")) return 0;
  LoadedObject& object = list.emplace_back();
  object.path = name;
  if (name.empty() && list.size() == 1) object.path = program();
  read_dynamic(*info, object);
  return 0;
}

}  // namespace

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(add, &objects);
  return objects;
}

std::vector<std::string> folders_of(std::string_view paths, std::string_view object) {
  const std::string origin(object.substr(0, object.rfind('/')));
  std::vector<std::string> folders;
  while (!paths.empty()) {
    const std::size_t end = std::min(paths.find(':'), paths.size());
    std::string folder(paths.substr(0, end));
    paths.remove_prefix(std::min(end + 1, paths.size()));
    for (const std::string_view variable : {"${ORIGIN}", "$ORIGIN"}) {
      for (std::size_t at = folder.find(variable); at != std::string::npos; at = folder.find(variable))
        folder.replace(at, variable.size(), origin);
    }
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

}  // namespace detccl::nccl_api
