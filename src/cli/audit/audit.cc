// SPDX-License-Identifier: Apache-2.0
// What `detccl doctor` has the loader tell (rtld-audit(7)): which objects a process loads, and which object's
// function an NCCL name of which other object is bound to, linked or looked up. It lives in a namespace of
// its own in each process of the command, and changes nothing there. C library only, and no memory of its
// own.
#include "cli/audit/records.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using detccl::cli::kReportVariable;

void write_line(const char* line, int length) {
  const char* file = std::getenv(kReportVariable);
  if (file == nullptr || length <= 0) return;
  // Opened each time, as programs close files that they do not know.
  const int descriptor = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return;
  [[maybe_unused]] const auto written = write(descriptor, line, static_cast<std::size_t>(length));
  close(descriptor);
}

/// The file of an object; the program's own name is empty in its map.
const char* path_of(const link_map* map, std::array<char, 4096>& buffer) {
  if (map->l_name != nullptr && map->l_name[0] != '\0') return map->l_name;
  const ssize_t length = readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  buffer[length < 0 ? 0 : static_cast<std::size_t>(length)] = '\0';
  return buffer.data();
}

const link_map* map_of(const std::uintptr_t* cookie) {
  return reinterpret_cast<const link_map*>(*cookie);  // NOLINT(performance-no-int-to-ptr): put there below
}

bool is_nccl_name(const char* name) {
  return std::strncmp(name, "nccl", 4) == 0 || std::strncmp(name, "pnccl", 5) == 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) unsigned la_objopen(link_map* map, Lmid_t space,
                                                           std::uintptr_t* cookie) {
  *cookie = reinterpret_cast<std::uintptr_t>(map);
  if (space != LM_ID_BASE) return 0;
  std::array<char, 4096> buffer;
  std::array<char, 8192> line;
  write_line(line.data(),
             std::snprintf(line.data(), line.size(), "object\t%d\t%s\n", getpid(), path_of(map, buffer)));
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

__attribute__((visibility("default"))) std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned,
                                                                   std::uintptr_t* from, std::uintptr_t* to,
                                                                   unsigned* flags, const char* name) {
  if (is_nccl_name(name)) {
    std::array<char, 4096> from_buffer, to_buffer;
    std::array<char, 16384> line;
    const char* how = (*flags & LA_SYMB_DLSYM) != 0 ? "looked-up" : "linked";
    write_line(line.data(),
               std::snprintf(line.data(), line.size(), "bind\t%d\t%s\t%s\t%s\t%s\n", getpid(), how, name,
                             path_of(map_of(from), from_buffer), path_of(map_of(to), to_buffer)));
  }
  return symbol->st_value;
}
}
