// SPDX-License-Identifier: Apache-2.0
// One rank of a job that looks at what DetCCL promises: a plain NCCL program. DetCCL comes by LD_PRELOAD.
//   promises --list
//   promises --rank R --ranks N --folder EMPTY_FOLDER [--cases A,B,… or PREFIX*] [--native] [--host]
//   [--replays K] [--cycles K]
// Prints one line of JSON for every case; exits with 0 if none failed, 1 if some did, 3 if the job had to
// end.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "cases.h"

namespace promises {
namespace {

Cases all_cases() {
  Cases cases;
  for (const auto add :
       {add_reduction_cases, add_piece_cases, add_memory_cases, add_group_cases, add_stream_cases,
        add_graph_cases, add_communicator_cases, add_end_cases, add_argument_cases, add_time_cases})
    add(cases);
  return cases;
}

/// Whether `name` is in a list of names and of beginnings, "large.*", separated by commas.
bool chosen(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
    if (item == name || (item.ends_with('*') && name.starts_with(item.substr(0, item.size() - 1))))
      return true;
  }
  return false;
}

struct Arguments {
  Settings settings;
  std::string cases = "*";
  bool list = false;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--list") {
      a.list = true;
    } else if (name == "--native") {
      a.settings.native = true;
    } else if (name == "--host") {
      a.settings.host = true;
    } else {
      if (i + 1 == argc) throw std::invalid_argument(std::string(name) + " wants a value, or is unknown");
      const char* const value = argv[++i];
      if (name == "--rank")
        a.settings.rank = std::atoi(value);
      else if (name == "--ranks")
        a.settings.ranks = std::atoi(value);
      else if (name == "--folder")
        a.settings.folder = value;
      else if (name == "--cases")
        a.cases = value;
      else if (name == "--replays")
        a.settings.replays = std::atoi(value);
      else if (name == "--cycles")
        a.settings.cycles = std::atoi(value);
      else
        throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  if (!a.list && a.settings.folder.empty()) throw std::invalid_argument("--folder is missing");
  return a;
}

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  bool failed = false;
  std::string running = "start";
  Result result;
  auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  try {
    Job job(arguments.settings);
    int version = 0;
    require(ncclGetVersion(&version), "ncclGetVersion");
    result.figures["nccl"] = version;
    result.figures["gpu"] = job.device().is_gpu();
    print(to_json("start", job.rank(), result, seconds()));
    for (const Case& c : all_cases()) {
      if (!chosen(arguments.cases, c.name)) continue;
      running = c.name;
      job.start_case(result);
      start = std::chrono::steady_clock::now();
      bool thrown = false;
      try {
        c.run(job, result);
        job.device().wait();
      } catch (const std::exception& error) {
        thrown = true;
        result.expect(false, error.what());
      }
      print(to_json(c.name, job.rank(), result, seconds()));
      running = "after " + c.name;
      job.end_case(thrown);
      failed |= result.failures > 0;
    }
    running = "finish";
    job.start_case(result);
    start = std::chrono::steady_clock::now();
    job.finish();
    print(to_json("finish", job.rank(), result, seconds()));
  } catch (const std::exception& error) {
    result.expect(false, error.what());
    print(to_json(running, arguments.settings.rank, result, seconds()));
    _exit(3);  // other ranks may wait for this one for ever: whoever started them ends them
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace promises

int main(int argc, char** argv) {
  try {
    const promises::Arguments arguments = promises::parse(argc, argv);
    if (!arguments.list) return promises::run(arguments);
    for (const promises::Case& c : promises::all_cases())
      std::printf("%s\n", c.name.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "promises: %s\n", error.what());
    return 2;
  }
}
