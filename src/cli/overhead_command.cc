// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/overhead_prometheus.h"
#include "cli/overhead_report.h"

namespace detccl::cli {
namespace {

struct OverheadOptions {
  std::vector<std::string> summaries, baseline;
  std::string json, prometheus;
  double slow = 2;
};

/// In one go: what reads it never sees half of it.
bool write(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".part";
  std::ofstream file(unfinished);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  if (file && !error) return true;
  std::cerr << "detccl overhead: cannot write " << path << '\n';
  return false;
}

int overhead(const OverheadOptions& options) {
  OverheadReport report;
  for (const std::string& path : options.summaries)
    read_summaries(path, report.summaries);
  Summaries native;
  for (const std::string& path : options.baseline)
    read_summaries(path, native);
  for (const Summaries* part : {&report.summaries, &native}) {
    for (const std::string& line : part->unreadable)
      std::cerr << "detccl overhead: " << line << '\n';
  }
  if (report.summaries.files == 0 || (!options.baseline.empty() && native.files == 0)) {
    std::cerr << "detccl overhead: no summaries" << (report.summaries.files == 0 ? "" : " of a baseline")
              << '\n';
    return 2;
  }
  if (!options.baseline.empty()) report.baseline.emplace(native);
  report.stragglers = find_stragglers(report.summaries);
  report.slow_schedules =
      find_slow_schedules(report.summaries, report.baseline ? &*report.baseline : nullptr, options.slow);
  std::cout << overhead_text(report);
  if (!options.json.empty() && !write(options.json, overhead_json(report))) return 2;
  if (!options.prometheus.empty() && !write(options.prometheus, overhead_prometheus(report))) return 2;
  return report.summaries.unreadable.empty() && native.unreadable.empty() ? 0 : 1;
}

}  // namespace

void add_overhead_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "overhead", "What a job's collectives took, from the profiler plugin's summaries of all its ranks");
  const auto options = std::make_shared<OverheadOptions>();
  command->add_option("SUMMARY", options->summaries, "Folders of summaries, or files")->required();
  command->add_option("--baseline", options->baseline, "Likewise, of a run of the same job without DetCCL");
  command->add_option("--json", options->json, "Write it to this file as well");
  command->add_option("--prometheus", options->prometheus,
                      "And as metrics, in Prometheus's text format, to this one");
  command->add_option("--slow", options->slow, "Name schedules that cost more than so many times native")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->footer("Exit status: 0; 1 if a file could not be read, the others are reported; 2 if none could.");
  command->callback([options, &status] { status = overhead(*options); });
}

}  // namespace detccl::cli
