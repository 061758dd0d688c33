// SPDX-License-Identifier: Apache-2.0
#include "cli/linked.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cli/elf_file.h"

namespace detccl::cli {
namespace {

/// This process's environment without what is preloaded, which may be a libnccl.so.2.
std::vector<char*> environment() {
  std::vector<char*> entries;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("LD_PRELOAD=")) entries.push_back(*entry);
  entries.push_back(nullptr);
  return entries;
}

/// The standard output of a program.
std::string output_of(std::array<const char*, 3> arguments) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::array<char*, 4> mutable_arguments{};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    mutable_arguments[i] = const_cast<char*>(arguments[i]);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, arguments[0], &actions, nullptr, mutable_arguments.data(), environment().data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; failed == 0 && (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    output.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  if (failed == 0) waitpid(child, nullptr, 0);
  return output;
}

}  // namespace

bool is_linked_with_nccl(const std::string& program) {
  const auto file = ElfFile::open(program);
  const std::string loader = file ? file->interpreter() : "";
  if (loader.empty()) return false;
  return output_of({loader.c_str(), "--list", program.c_str()}).find("libnccl.so.2 =>") != std::string::npos;
}

}  // namespace detccl::cli
