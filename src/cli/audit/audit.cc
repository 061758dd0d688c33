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

using Path = std::array<char, 4096>;
using Line = std::array<char, 3 * sizeof(Path)>;

/// Appends "EVENT PID PARENT", then `rest`.
void write_line(const char* event, const char* rest) {
  const char* file = std::getenv(kReportVariable);
  if (file == nullptr) return;
  Line line;
  const int length =
      std::snprintf(line.data(), line.size(), "%s\t%d\t%d%s\n", event, getpid(), getppid(), rest);
  // Opened each time, as programs close files that they do not know.
  const int descriptor = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0 || length < 0 || static_cast<std::size_t>(length) >= line.size()) return;
  [[maybe_unused]] const auto written = write(descriptor, line.data(), static_cast<std::size_t>(length));
  close(descriptor);
}

/// The file of an object; the program's own name is empty in its map.
const char* path_of(const link_map* map, Path& buffer) {
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
  write_line("start", "");
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) unsigned la_objopen(link_map* map, Lmid_t space,
                                                           std::uintptr_t* cookie) {
  *cookie = reinterpret_cast<std::uintptr_t>(map);
  if (space != LM_ID_BASE) return 0;
  Path path;
  Line line;
  std::snprintf(line.data(), line.size(), "\t%s", path_of(map, path));
  write_line("object", line.data());
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

__attribute__((visibility("default"))) std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned,
                                                                   std::uintptr_t* from, std::uintptr_t* to,
                                                                   unsigned* flags, const char* name) {
  if (is_nccl_name(name)) {
    Path caller, function;
    Line line;
    const char* how = (*flags & LA_SYMB_DLSYM) != 0 ? "looked-up" : "linked";
    std::snprintf(line.data(), line.size(), "\t%s\t%s\t%s\t%s", how, name, path_of(map_of(from), caller),
                  path_of(map_of(to), function));
    write_line("bind", line.data());
  }
  return symbol->st_value;
}
}
