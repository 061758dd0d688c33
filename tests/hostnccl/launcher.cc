// SPDX-License-Identifier: Apache-2.0
#include "launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace detccl::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "hostnccl-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// Replaces the forked child by the rank's program.
[[noreturn]] void become_rank(const Launch& launch, int rank, const fs::path& id_file,
                              const fs::path& output) {
  setpgid(0, 0);  // so that its own children are killed with it
  const int fd = open(output.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(fd, 1);
  dup2(fd, 2);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  for (const auto& [name, value] : launch.environment)
    setenv(name.c_str(), value.c_str(), 1);
  const std::string number = std::to_string(rank), ranks = std::to_string(launch.ranks);
  execl(HOSTNCCL_RANK_PROGRAM, HOSTNCCL_RANK_PROGRAM, launch.scenario.c_str(), number.c_str(), ranks.c_str(),
        id_file.c_str(), nullptr);
  _exit(127);
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::vector<RankOutcome> launch(const Launch& launch) {
  const Folder folder;
  const int processes = launch.only_first != 0 ? launch.only_first : launch.ranks;
  std::vector<pid_t> pids;
  for (int rank = 0; rank < processes; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid == 0) become_rank(launch, rank, folder / "id", folder / std::to_string(rank));
    pids.push_back(pid);
  }
  const std::vector<pid_t> groups = pids;
  std::vector<RankOutcome> outcomes(pids.size());
  const auto deadline = Clock::now() + std::chrono::seconds(launch.limit_seconds);
  std::size_t running = pids.size();
  while (running > 0 && Clock::now() < deadline) {
    for (std::size_t rank = 0; rank < pids.size(); ++rank) {
      int status = 0;
      if (pids[rank] == 0 || waitpid(pids[rank], &status, WNOHANG) == 0) continue;
      outcomes[rank].exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      pids[rank] = 0;
      --running;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::string late;
  for (std::size_t rank = 0; rank < pids.size(); ++rank) {
    kill(-groups[rank], SIGKILL);  // with the children that it left behind
    if (pids[rank] != 0) {
      waitpid(pids[rank], nullptr, 0);
      late += " " + std::to_string(rank);
    }
    outcomes[rank].output = contents(folder / std::to_string(rank));
  }
  if (late.empty()) return outcomes;
  std::string all;
  for (const RankOutcome& outcome : outcomes)
    all += "\n[" + std::to_string(outcome.exit_code) + "] " + outcome.output;
  throw std::runtime_error("ranks" + late + " did not end in time;" + all);
}

}  // namespace detccl::test
