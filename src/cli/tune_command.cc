// SPDX-License-Identifier: Apache-2.0
#include "cli/tune_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "cli/tune_sweep.h"
#include "plan/tuner/file.h"

namespace detccl::cli {
namespace {

struct TuneOptions {
  SweepOptions sweep;
  std::string output;
  bool force = false;
};

/// "median error 9 %, largest 31 % (88 times)"
std::string errors(std::vector<double> all) {
  for (double& error : all)
    error = std::abs(error) * 100;
  std::sort(all.begin(), all.end());
  return fmt::format("median error {:.0f} %, largest {:.0f} % ({} times)", all[all.size() / 2], all.back(),
                     all.size());
}

/// How far the figures are from what was measured, all together and by schedule.
std::string residuals(const std::vector<plan::tuner::Sample>& samples, const plan::tuner::Coefficients& c) {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_schedule;
  for (const plan::tuner::Sample& sample : samples) {
    all.push_back(plan::tuner::error(sample, c));
    by_schedule[plan::name(sample.schedule)].push_back(all.back());
  }
  std::string text = "all: " + errors(all);
  for (const auto& [schedule, some] : by_schedule)
    text += fmt::format("\n{}: {}", schedule, errors(some));
  return text;
}

std::string times(const std::vector<plan::tuner::Sample>& samples, const plan::tuner::Coefficients& c) {
  std::string text = "\ncollective, schedule, bytes, chunk: measured us, predicted us";
  for (const plan::tuner::Sample& s : samples) {
    text += fmt::format("\n{} {} {} {}: {:.1f} {:.1f}", plan::name(s.question.collective),
                        plan::name(s.schedule), s.question.bytes, s.chunk, s.seconds * 1e6,
                        s.seconds * (1 + plan::tuner::error(s, c)) * 1e6);
  }
  return text;
}

struct RemovedAtEnd {
  std::string path;
  ~RemovedAtEnd() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

void check(const TuneOptions& o) {
  const SweepOptions& s = o.sweep;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr &&
      std::string_view(std::getenv("OMPI_COMM_WORLD_SIZE")) != "1")
    throw CLI::ValidationError("tune",
                               "is run once, and starts the ranks: give the launcher with --launcher");
  if (s.launcher.empty() == (s.ranks == 0))
    throw CLI::ValidationError("tune", "either -n RANKS or --launcher 'COMMAND' has to be given");
  if (!s.launcher.empty() && s.group == 0)
    throw CLI::ValidationError("--group", "with --launcher it has to be said how many ranks a host has");
  if (s.group != 0 && !std::has_single_bit(s.group))
    throw CLI::ValidationError("--group", "not a power of two");
  if (s.ranks == 1) throw CLI::ValidationError("-n", "one rank has nothing to choose");
  if (!contract::parse_contract(s.contract))
    throw CLI::ValidationError("--contract", fmt::format("'{}' is no contract", s.contract));
  if (std::filesystem::exists(o.output) && !o.force)
    throw CLI::ValidationError("--output", o.output + " is there already; --force overwrites it");
}

int run(const TuneOptions& o) {
  check(o);
  // Beside what may be there already, which stays until the new one is whole.
  const std::string part = o.output + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  if (!out) throw std::runtime_error(part + " cannot be written");
  const RemovedAtEnd remove{part};
  const SweepResult result = sweep(o.sweep);
  plan::tuner::Coefficients start = plan::tuner::built_in(o.sweep.host ? "host" : "h200");
  if (o.sweep.host) start.processors = std::thread::hardware_concurrency();
  std::cerr << "tune: fitting " << result.samples.size() << " times" << std::endl;
  plan::tuner::Coefficients c = plan::tuner::fit(result.samples, start);
  const std::string date = fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)));
  c.source = fmt::format("detccl tune, {}, {} ranks on {}", date, result.ranks, result.machine);
  std::string remarks = "predicted against measured:\n" + residuals(result.samples, c);
  if (o.sweep.group == 0) remarks += "\nnothing was measured between hosts: far_ figures are a guess";
  for (const std::string& failure : result.failures)
    remarks += "\nnot measured: " + failure;
  out << plan::tuner::write(c, remarks + times(result.samples, c)) << std::flush;
  out.close();
  if (!out) throw std::runtime_error(part + " cannot be written");
  std::filesystem::rename(part, o.output);
  std::cout << remarks << "\nwritten: " << o.output << "; DETCCL_TUNING=" << o.output << " uses it"
            << std::endl;
  return 0;
}

}  // namespace

void add_tune_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "tune", "Measure this machine for a minute, and write what schedules are chosen by to a file");
  const auto options = std::make_shared<TuneOptions>();
  SweepOptions& s = options->sweep;
  command->add_option("-n,--ranks", s.ranks, "Ranks on this host, which it starts");
  command->add_option(
      "--launcher", s.launcher,
      "Instead: the command line that starts the job's ranks, as 'mpirun -n 16 --hostfile hosts'");
  command->add_option("--group", s.group,
                      "Ranks of a host, or of an NVLink domain, where there are several: a power of two");
  command->add_flag("--host", s.host, "On host memory");
  command->add_option("--contract", s.contract, "The job's DETCCL_CONTRACT")->capture_default_str();
  command->add_option("--calls", s.calls, "Calls that are timed of each size, at least 5")
      ->check(CLI::Range(5, 10000))
      ->capture_default_str();
  command->add_option("--most-bytes", s.most_bytes, "Largest message, bytes")
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 34))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "The file that is written")->required();
  command->add_flag("--force", options->force, "Overwrite it");
  command->footer("Exit status: 0; 2 for bad usage, or if nothing could be measured or written.");
  command->callback([options, &status] {
    try {
      status = run(*options);
    } catch (const CLI::Error&) {
      throw;
    } catch (const std::exception& e) {
      std::cerr << "detccl tune: " << e.what() << '\n';
      status = 2;
    }
  });
}

}  // namespace detccl::cli
