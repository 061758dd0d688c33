// SPDX-License-Identifier: Apache-2.0
#include "cli/tune_sweep.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "cli/launch.h"
#include "engine/choice.h"

namespace detccl::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t kLeastBytes = 1 << 10, kFactor = 8;

/// One run of a perf program.
struct Run {
  plan::Collective collective{};
  std::vector<std::string> schedules;
  std::uint64_t chunk = 0, least_bytes = 0;
};

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "detccl-tune-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path file(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::vector<Run> runs(const SweepOptions& o) {
  std::vector<std::string> schedules{"gather", "direct"};
  if (o.contract.starts_with("linear")) {
    schedules.push_back("ring");
  } else {
    schedules.insert(schedules.end(), {"tree", "halving"});
  }
  const bool groups = o.group != 0 && (o.ranks == 0 || o.group < o.ranks);
  if (groups && schedules.back() == "halving") schedules.emplace_back("hier(direct,halving)");
  // What there is without a tuning file, and less; on the host also more, for its caches.
  const std::uint64_t usual = (o.host ? engine::Settings() : engine::gpu_defaults()).tuning.chunk_bytes;
  std::vector<std::uint64_t> chunks{usual, usual / 4};
  if (o.host) {
    chunks.insert(chunks.begin(), usual * 4);
  } else {
    chunks.push_back(usual / 32);
  }
  std::vector<Run> list;
  for (const std::uint64_t chunk : chunks) {
    // A message no longer than a chunk is the same with any of them.
    const std::uint64_t from = list.empty() ? kLeastBytes : chunk * 2;
    list.push_back({plan::Collective::all_reduce, schedules, chunk, from});
  }
  list.push_back({plan::Collective::reduce_scatter, schedules, usual, kLeastBytes});
  return list;
}

std::vector<std::string> command(const SweepOptions& o, const Run& run, const std::string& json) {
  std::vector<std::string> words;
  std::istringstream launcher(o.launcher);
  for (std::string word; launcher >> word;)
    words.push_back(word);
  // The variables travel with the command, whatever the launcher does with them.
  for (const char* word : {"env", "-u", "DETCCL_TUNING", "-u", "DETCCL_SCHEDULE", "-u", "DETCCL_SCRATCH"})
    words.emplace_back(word);
  words.push_back(fmt::format("DETCCL_CHUNK={}", run.chunk));
  if (o.group != 0) words.push_back(fmt::format("DETCCL_GROUP={}", o.group));
  words.push_back(library_folder() + fmt::format("/../bin/{}_perf", plan::name(run.collective)));
  words.insert(words.end(), {"--schedule", fmt::format("{}", fmt::join(run.schedules, ","))});
  if (o.host) words.emplace_back("--host");
  if (o.ranks != 0) words.insert(words.end(), {"--ranks", std::to_string(o.ranks)});
  // Averages: sums of two would be left to NCCL.
  for (const std::string& word : {std::string("--contract"),
                                  o.contract,
                                  std::string("-o"),
                                  std::string("avg"),
                                  std::string("-b"),
                                  std::to_string(run.least_bytes),
                                  std::string("-e"),
                                  std::to_string(o.most_bytes),
                                  std::string("-f"),
                                  std::to_string(kFactor),
                                  std::string("-n"),
                                  std::to_string(o.calls),
                                  std::string("-w"),
                                  std::string("3"),
                                  std::string("-c"),
                                  std::string("0"),
                                  std::string("--row-seconds"),
                                  std::string("0.5"),
                                  std::string("--json"),
                                  json})
    words.push_back(word);
  return words;
}

/// Its exit status; what it prints goes to `log`.
int execute(std::vector<std::string> words, const fs::path& log) {
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process can be started");
  if (child == 0) {
    if (std::freopen("/dev/null", "r", stdin) == nullptr || std::freopen(log.c_str(), "w", stdout) == nullptr)
      _exit(127);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("a program that was started is gone");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string last_line(const fs::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t#") != std::string::npos) last = line;
  }
  return last.empty() ? "it said nothing" : last;
}

void append(const SweepOptions& o, const Run& run, const Json& document, SweepResult& result) {
  result.ranks = document.at("ranks").get<std::uint32_t>();
  result.machine = document.contains("gpu")
                       ? document.at("gpu").value("name", "a GPU")
                       : fmt::format("{}, {} cores", document.at("cpu").value("model", "?"),
                                     document.at("cpu").value("cores", 0));
  for (const Json& row : document.at("results")) {
    engine::Settings settings = o.host ? engine::Settings() : engine::gpu_defaults();
    settings.contract = contract::parse_contract(o.contract).value();
    settings.chunk_bytes = run.chunk;
    settings.schedule = plan::parse_schedule(row.at("schedule").get<std::string>());
    settings.group = o.group != 0 ? o.group : 1;
    settings.near = o.group != 0 ? o.group : result.ranks;
    const auto bytes = row.at("bytes").get<std::uint64_t>();
    if (bytes == 0 || !settings.schedule) continue;
    // What others on the machine do makes times longer, never shorter.
    const double seconds = row.at("time_us").at("min").get<double>() * 1e-6;
    const auto type = contract::DataType::float32;
    const auto question = engine::question(settings, run.collective, result.ranks, type, bytes);
    const plan::Schedule schedule = engine::choose_schedule(settings, result.ranks, bytes);
    const std::uint64_t chunk = engine::chunk_bytes(
        question, engine::chunk_elements(settings, run.collective, schedule, result.ranks, type));
    result.samples.push_back({question, schedule, static_cast<double>(chunk), seconds});
  }
}

}  // namespace

SweepResult sweep(const SweepOptions& o) {
  const Folder folder;
  const std::vector<Run> list = runs(o);
  SweepResult result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Run& run = list[i];
    const std::string what = fmt::format("{} by {}, chunks of {} KB", plan::name(run.collective),
                                         fmt::join(run.schedules, ", "), run.chunk >> 10);
    if (run.least_bytes > o.most_bytes) continue;
    std::fputs(fmt::format("tune: {} of {}: {}\n", i + 1, list.size(), what).c_str(), stderr);
    const fs::path json = folder.file("sweep.json"), log = folder.file("log");
    fs::remove(json);
    const int status = execute(command(o, run, json.string()), log);
    try {
      std::ifstream in(json);
      if (status != 0)
        result.failures.push_back(fmt::format("{}: exit status {}: {}", what, status, last_line(log)));
      if (in) append(o, run, Json::parse(in), result);
    } catch (const Json::exception& e) {
      result.failures.push_back(fmt::format("{}: {}", what, e.what()));
    }
    if (result.samples.empty()) break;  // nor will the others
  }
  if (result.samples.empty()) {
    throw std::runtime_error("nothing could be measured: " +
                             (result.failures.empty() ? "no sizes" : result.failures.front()));
  }
  return result;
}

}  // namespace detccl::cli
