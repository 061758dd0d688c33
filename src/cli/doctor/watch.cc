// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>

#include "cli/audit/records.h"

namespace detccl::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook{20}, kQuiet{1000}, kGrace{3000};

/// A file of its own, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const char* name)
      : path_((std::filesystem::temp_directory_path() / name).string() + "-XXXXXX"),
        descriptor_(mkostemp(path_.data(), O_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), path_);
  }
  ~TemporaryFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_;
};

/// The report as far as it is written.
class Report {
 public:
  Report(const TemporaryFile& file, const WatchOptions& options) : file_(file), options_(options) {}

  void read() {
    std::array<char, 65536> buffer{};
    for (ssize_t n = 0; (n = pread(file_.descriptor(), buffer.data(), buffer.size(), offset_)) > 0;
         offset_ += n)
      text_.append(buffer.data(), static_cast<std::size_t>(n));
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      if (processes_.take(text_.substr(0, end))) note_bind(processes_.last_bind());
      text_.erase(0, end + 1);
    }
  }

  /// Another NCCL than DetCCL has been reached, and for a while nothing was bound.
  bool says_enough() const { return reached_ && Clock::now() - last_bind_ > kQuiet; }

  const std::vector<Process>& processes() const { return processes_.all(); }

 private:
  bool is_detccl(const std::string& file) const {
    return std::ranges::find(options_.detccl, file) != options_.detccl.end();
  }

  void note_bind(const Bind& bind) {
    last_bind_ = Clock::now();
    if (!is_detccl(bind.function) && (is_detccl(bind.caller) || options_.functions.contains(bind.name)))
      reached_ = true;
  }

  const TemporaryFile& file_;
  const WatchOptions& options_;
  Processes processes_;
  std::string text_;
  off_t offset_ = 0;
  Clock::time_point last_bind_;
  bool reached_ = false;
};

/// The environment of this process, and the audit library.
std::vector<std::string> environment_for(const WatchOptions& options, const std::string& report) {
  std::vector<std::string> entries;
  std::string audit = "LD_AUDIT=" + options.audit_library;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("LD_AUDIT=")) {
      audit += ":" + std::string(text.substr(9));
    } else {
      entries.emplace_back(text);
    }
  }
  entries.push_back(audit);
  entries.push_back(std::string(kReportVariable) + "=" + report);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts)
    list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// In a process group of its own. Returns the error's number, 0 for none.
int start(const WatchOptions& options, const std::string& report, const std::string& output, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_APPEND, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> command = options.command, entries = environment_for(options, report);
  const int failed = posix_spawnp(&child, command[0].c_str(), &actions, &attributes, pointers(command).data(),
                                  pointers(entries).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Whether `pid` still is one of the command's: it has the report's name in its environment.
bool is_ours(int pid, const std::string& report) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.find(report) != std::string::npos;
}

bool wait_for(pid_t child, milliseconds limit, int& status) {
  const auto until = Clock::now() + limit;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

/// Ends the command's processes, also those that have left its group.
void end(pid_t child, bool running, const Report& report, const std::string& report_file) {
  int ignored = 0;
  kill(-child, SIGTERM);
  if (running && !wait_for(child, kGrace, ignored)) {
    kill(-child, SIGKILL);
    waitpid(child, &ignored, 0);
  }
  kill(-child, SIGKILL);
  std::set<int> left;
  for (const Process& process : report.processes())
    if (process.pid > 1 && is_ours(process.pid, report_file)) left.insert(process.pid);
  for (const int pid : left)
    kill(pid, SIGKILL);
}

std::string last_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  std::string text;
  for (std::size_t i = lines.size() - std::min<std::size_t>(lines.size(), 8); i < lines.size(); ++i)
    text += lines[i] + "\n";
  return text;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

Watched watch(const WatchOptions& options) {
  const TemporaryFile report_file("detccl-doctor"), output_file("detccl-doctor-output");
  Watched watched;
  pid_t child = 0;
  const int error = start(options, report_file.path(), output_file.path(), child);
  if (error != 0) {
    watched.failed = true;
    watched.ended = fmt::format("cannot be started: {}", std::strerror(error));
    return watched;
  }
  const auto begin = Clock::now();
  Report report(report_file, options);
  int status = 0;
  bool running = true, enough = false, late = false;
  while (running && !enough && !late) {
    std::this_thread::sleep_for(kLook);
    running = waitpid(child, &status, WNOHANG) == 0;
    report.read();
    enough = !options.to_the_end && report.says_enough();
    late = Clock::now() - begin > options.timeout;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  end(child, running, report, report_file.path());
  report.read();
  watched.processes = report.processes();
  watched.output = last_lines(output_file.path());
  watched.failed = !running && status != 0;
  watched.ended = fmt::format("{} after {:.1f} s",
                              !running ? describe(status)
                              : enough ? "ended, as enough was seen,"
                                       : "still running, ended",
                              seconds);
  return watched;
}

}  // namespace detccl::cli
