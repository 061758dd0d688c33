// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace detccl::test {
namespace {

void write_all(int fd, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw std::runtime_error("a test process cannot write to its pipe");
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

/// False at the end of the stream.
bool read_all(int fd, void* data, std::size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = read(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void write_text(int fd, const std::string& text) {
  const std::size_t length = text.size();
  write_all(fd, &length, sizeof length);
  write_all(fd, text.data(), length);
}

std::optional<std::string> read_text(int fd) {
  std::size_t length = 0;
  if (!read_all(fd, &length, sizeof length)) return std::nullopt;
  std::string text(length, '\0');
  if (!read_all(fd, text.data(), length)) return std::nullopt;
  return text;
}

struct Child {
  pid_t pid = -1;
  int from = -1, to = -1;  ///< pipes; `from` is closed when the child has ended
};

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

[[noreturn]] void run_child(const Process& process, const std::function<void(const Process&)>& body) {
  // UCX patches madvise(), which the C library calls from a thread that ThreadSanitizer has let go already.
  if (kThreadSanitizer) setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int result = 0;
  try {
    body(process);
    result = testing::Test::HasFailure() ? 1 : 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %u: %s\n", process.rank(), e.what());
    result = 1;
  }
  // Not _exit(): what libraries do at exit must work too.
  std::exit(result);
}

Child start(std::uint32_t rank, std::uint32_t size, const std::vector<Child>& earlier,
            const std::function<void(const Process&)>& body) {
  int up[2], down[2];
  if (pipe(up) != 0 || pipe(down) != 0) throw std::runtime_error("pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) {
    for (const Child& c : earlier) {
      close(c.from);
      close(c.to);
    }
    close(up[0]);
    close(down[1]);
    run_child(Process(rank, size, up[1], down[0]), body);
  }
  close(up[1]);
  close(down[0]);
  return {pid, up[0], down[1]};
}

/// Serves all_gathers until every child has closed its pipe. False when time runs out.
bool serve(std::vector<Child>& children, std::chrono::steady_clock::time_point deadline) {
  std::vector<std::optional<std::string>> texts(children.size());
  for (;;) {
    std::vector<pollfd> waiting;
    bool open = false;
    for (std::size_t i = 0; i < children.size(); ++i) {
      open = open || children[i].from >= 0;
      if (children[i].from >= 0 && !texts[i]) waiting.push_back({children[i].from, POLLIN, 0});
    }
    if (!open) return true;
    if (waiting.empty()) {  // everyone who is left has written
      std::string reply;
      for (std::size_t i = 0; i < children.size(); ++i) {
        if (children[i].from < 0) continue;
        for (const auto& text : texts)
          write_text(children[i].to, text.value_or(""));
      }
      for (auto& text : texts)
        text.reset();
      continue;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    for (const pollfd& ready : waiting) {
      if (ready.revents == 0) continue;
      for (std::size_t i = 0; i < children.size(); ++i) {
        if (children[i].from != ready.fd) continue;
        texts[i] = read_text(ready.fd);
        if (!texts[i]) {
          close(children[i].from);
          children[i].from = -1;
        }
      }
    }
  }
}

}  // namespace

std::vector<std::string> Process::all_gather(const std::string& own) const {
  write_text(to_parent_, own);
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < size_; ++i) {
    const auto text = read_text(from_parent_);
    if (!text) throw std::runtime_error("the test's parent process has gone");
    all.push_back(*text);
  }
  return all;
}

void Process::die() const {
  kill(getpid(), SIGKILL);
  std::abort();
}

void run_processes(std::uint32_t size, const std::function<void(const Process&)>& body,
                   const Options& options) {
  std::vector<Child> children;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    children.push_back(start(rank, size, children, body));
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);  // a child may die while it is written to
  const bool in_time = serve(children, std::chrono::steady_clock::now() + options.limit);
  std::signal(SIGPIPE, ignored);
  if (!in_time) ADD_FAILURE() << "time is up: killing the processes";
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    Child& child = children[rank];
    if (!in_time) kill(child.pid, SIGKILL);
    int status = 0;
    waitpid(child.pid, &status, 0);
    if (child.from >= 0) close(child.from);
    close(child.to);
    bool expected_kill = false;
    for (const std::uint32_t k : options.killed)
      expected_kill = expected_kill || k == rank;
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    const bool fine = expected_kill ? killed : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    EXPECT_TRUE(fine) << "rank " << rank << " ended with wait status " << status;
  }
}

}  // namespace detccl::test
