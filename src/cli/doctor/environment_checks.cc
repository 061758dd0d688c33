// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/environment_checks.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "cli/elf_file.h"
#include "nccl_api/environment.h"

namespace detccl::cli {
namespace {

void check_library(const std::string& requested, Diagnosis& diagnosis) {
  if (requested.find('/') == std::string::npos) return;  // for the loader to find
  const auto file = ElfFile::open(requested);
  std::string what;
  if (!file) {
    what = "cannot be read as a library";
  } else if (file->defined().contains("detcclVersion")) {
    what = "is DetCCL itself";
  } else if (!file->defined().contains("ncclGetVersion")) {
    what = "is no NCCL";
  }
  if (!what.empty()) diagnosis.problems.push_back(fmt::format("DETCCL_NCCL_LIBRARY={} {}", requested, what));
}

void check_preloaded(std::string list, Diagnosis& diagnosis) {
  std::ranges::replace(list, ' ', ':');
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string name = list.substr(0, end);
    list.erase(0, end + 1);
    const auto file = ElfFile::open(name);
    if (!file || !file->defined().contains("ncclAllReduce")) continue;
    diagnosis.notes.push_back(
        fmt::format("LD_PRELOAD has {} already, which also has NCCL's functions; {}", name,
                    file->defined().contains("detcclVersion") ? "the DetCCL that comes first counts"
                                                              : "`detccl run` puts DetCCL before it"));
  }
}

}  // namespace

void check_environment_variables(Diagnosis& diagnosis) {
  const auto environment = nccl_api::Environment::read(environ);
  for (const std::string& problem : environment.problems())
    diagnosis.problems.push_back(problem);
  const auto& configuration = environment.configuration();
  if (configuration.disable)
    diagnosis.problems.emplace_back("DETCCL_DISABLE=1: reductions are NCCL's own, nothing is promised");
  if (configuration.fallback_native)
    diagnosis.problems.emplace_back("DETCCL_FALLBACK=native: what cannot be deterministic runs natively");
  check_library(configuration.nccl_library, diagnosis);
  if (const char* list = std::getenv("LD_PRELOAD")) check_preloaded(list, diagnosis);
}

void check_program(const std::string& file, Diagnosis& diagnosis) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return;
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0)
    diagnosis.problems.push_back(file + " is setuid or setgid: the loader ignores LD_PRELOAD for it");
  if (getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
    diagnosis.problems.push_back(file + " has file capabilities: the loader ignores LD_PRELOAD for it");
  const auto program = ElfFile::open(file);
  if (!program || !program->interpreter().empty()) return;
  const std::string version = program->embedded_nccl_version();
  diagnosis.problems.push_back(fmt::format("{} is a static program: nothing can be preloaded into it{}", file,
                                           version.empty() ? "" : "; it contains NCCL " + version));
}

}  // namespace detccl::cli
