// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "cli/doctor/nccl_version.h"
#include "cli/elf_file.h"

namespace detccl::cli {
namespace {

constexpr int kOldest = 21800;

/// What a file is, as far as NCCL goes.
struct Kind {
  bool detccl = false;
  bool library = false;                          ///< NCCL itself
  bool contains = false;                         ///< another file that defines its functions
  bool linked = false;                           ///< asks for them
  std::set<std::string, std::less<>> functions;  ///< DetCCL's
};

class Files {
 public:
  const Kind& kind(const std::string& file) {
    const auto [entry, is_new] = kinds_.try_emplace(file);
    if (is_new) entry->second = look(file);
    return entry->second;
  }

  const std::string& version(const std::string& file) {
    const auto [entry, is_new] = versions_.try_emplace(file);
    if (!is_new) return entry->second;
    if (kind(file).library) entry->second = version_text(nccl_version_code(file));
    if (entry->second.empty())
      if (const auto elf = ElfFile::open(file)) entry->second = elf->embedded_nccl_version();
    return entry->second;
  }

 private:
  static Kind look(const std::string& file) {
    const auto elf = ElfFile::open(file);
    if (!elf) return {};
    Kind kind;
    const bool defines =
        elf->defined().contains("ncclAllReduce") || elf->defined().contains("ncclCommInitRank");
    kind.detccl = elf->defined().contains("detcclVersion");
    if (kind.detccl) kind.functions = elf->defined();
    kind.library =
        defines && !kind.detccl && std::filesystem::path(file).filename().string().starts_with("libnccl");
    kind.contains = defines && !kind.detccl && !kind.library;
    kind.linked = !defines && std::ranges::any_of(elf->undefined(), [](const std::string& name) {
      return name == "ncclAllReduce" || name.starts_with("ncclComm") || name == "ncclReduceScatter";
    });
    return kind;
  }

  std::map<std::string, Kind> kinds_;
  std::map<std::string, std::string> versions_;
};

void add_nccls(const Process& process, Files& files, ProcessFound& found) {
  for (const std::string& object : process.objects) {
    const Kind& kind = files.kind(object);
    if (kind.detccl && found.detccl.empty()) found.detccl = object;
    const bool seen = std::ranges::any_of(found.nccls, [&](const NcclFound& n) { return n.file == object; });
    // A file that gets functions of the same names elsewhere hands calls on: it contains nothing.
    const bool hands_on = std::ranges::any_of(
        process.binds, [&](const Bind& bind) { return bind.caller == object && bind.function != object; });
    if (seen || (!kind.library && (!kind.contains || hands_on))) continue;
    const bool behind = std::ranges::any_of(process.binds, [&](const Bind& bind) {
      return bind.function == object && files.kind(bind.caller).detccl;
    });
    found.nccls.push_back({.file = object,
                           .version = files.version(object),
                           .contained = kind.contains,
                           .behind_detccl = behind});
  }
}

/// Functions that have nothing to do with communicators.
bool is_harmless(const std::string& name) {
  return name == "ncclGetVersion" || name == "ncclGetErrorString" || name == "ncclGetLastError";
}

void add_clients(const Process& process, Files& files, ProcessFound& found) {
  for (const Bind& bind : process.binds) {
    const Kind& caller = files.kind(bind.caller);
    const Kind& function = files.kind(bind.function);
    if (caller.detccl || caller.library || !(function.detccl || function.library || function.contains))
      continue;
    if (bind.caller == bind.function || (!function.detccl && is_harmless(bind.name))) continue;
    // What DetCCL does not have is the other's, as it should be.
    if (!function.detccl && !found.detccl.empty() && !files.kind(found.detccl).functions.contains(bind.name))
      continue;
    const ClientFound client{.file = bind.caller,
                             .how = bind.looked_up ? "looked up" : "linked",
                             .function = bind.function,
                             .reaches_detccl = function.detccl};
    if (std::ranges::find(found.clients, client) == found.clients.end()) found.clients.push_back(client);
  }
  for (const std::string& object : process.objects) {
    const bool bound =
        std::ranges::any_of(found.clients, [&](const ClientFound& c) { return c.file == object; });
    if (bound || !files.kind(object).linked) continue;
    found.clients.push_back({.file = object,
                             .how = "linked, not called yet",
                             .function = found.detccl,
                             .reaches_detccl = !found.detccl.empty()});
  }
}

bool reaches_detccl(const ProcessFound& process, const std::string& file) {
  return std::ranges::any_of(process.clients,
                             [&](const ClientFound& c) { return c.file == file && c.reaches_detccl; });
}

void judge(const ProcessFound& process, Diagnosis& diagnosis) {
  const auto problem = [&](const std::string& text) {
    diagnosis.problems.push_back(fmt::format("process {}, {}: {}", process.pid, process.program, text));
  };
  if (process.detccl.empty())
    problem(
        "DetCCL is not loaded: its LD_PRELOAD does not get there (a script that sets another, a container, "
        "a setuid program)");
  for (const ClientFound& client : process.clients) {
    // One that stands in front of DetCCL and calls it is in order.
    if (client.reaches_detccl || reaches_detccl(process, client.function) || process.detccl.empty()) continue;
    problem(
        fmt::format("{} goes past DetCCL to {}{}", client.file, client.function,
                    client.how == "looked up"
                        ? ", which it opens itself: by the name libnccl.so.2 it would get the shim (--via "
                          "shim), by a path it gets that file"
                        : ""));
  }
  if (process.clients.empty() && !process.nccls.front().contained)
    diagnosis.notes.push_back(
        fmt::format("process {}, {}: nothing was seen to call its NCCL", process.pid, process.program));
  for (const NcclFound& nccl : process.nccls) {
    if (nccl.contained)
      problem(fmt::format("{} has an NCCL of its own, statically linked: its calls do not reach DetCCL",
                          nccl.file));
    const int version = version_code(nccl.version);
    if (version != 0 && version < kOldest)
      problem(
          fmt::format("{} is NCCL {}: the oldest that DetCCL works with is 2.18", nccl.file, nccl.version));
  }
}

bool is_same(const ProcessFound& a, const ProcessFound& b) {
  return a.program == b.program && a.detccl == b.detccl && a.nccls == b.nccls && a.clients == b.clients;
}

/// Where no symbol tells of NCCL, the program or a large library may still contain one, without symbols.
void look_inside(const Process& process, Files& files, Diagnosis& diagnosis) {
  constexpr std::uintmax_t kLarge = 20 << 20;  // NCCL's kernels alone are larger
  for (const std::string& object : process.objects) {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(object, none);
    if (none || (size < kLarge && object != process.objects.front())) continue;
    if (files.version(object).empty()) continue;
    diagnosis.problems.push_back(
        fmt::format("process {}: {} contains NCCL {}, statically linked: its calls do not reach DetCCL",
                    process.pid, object, files.version(object)));
  }
}

}  // namespace

void add_findings(const Watched& watched, Diagnosis& diagnosis) {
  Files files;
  for (const Process& process : watched.processes) {
    ProcessFound found{.pid = process.pid, .program = {}, .detccl = {}, .nccls = {}, .clients = {}};
    if (!process.objects.empty()) found.program = process.objects.front();
    add_nccls(process, files, found);
    add_clients(process, files, found);
    if (found.nccls.empty() && found.clients.empty()) {
      look_inside(process, files, diagnosis);
      continue;
    }
    const auto same =
        std::ranges::find_if(diagnosis.processes, [&](const auto& p) { return is_same(p, found); });
    if (same != diagnosis.processes.end()) {
      ++same->alike;
    } else {
      judge(found, diagnosis);
      diagnosis.processes.push_back(std::move(found));
    }
  }
  if (watched.processes.empty() && !watched.failed)
    diagnosis.problems.push_back(
        "no process reported: their loader takes no audit library (see rtld-audit(7))");
  if (diagnosis.processes.empty() && diagnosis.problems.empty())
    diagnosis.problems.push_back("no NCCL was seen: no process loaded one or asked for one");
}

}  // namespace detccl::cli
