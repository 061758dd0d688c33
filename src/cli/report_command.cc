// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/report_page.h"
#include "cli/report_results.h"

namespace detccl::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string out = "detccl-report.html", title = "What determinism costs";
  bool force = false;
};

int fail(const std::string& reason) {
  std::cerr << "detccl report: " << reason << '\n';
  return 2;
}

int write_page(const std::string& page, const ReportOptions& options) {
  // x: not even a file that appeared a moment ago is overwritten.
  std::FILE* file = std::fopen(options.out.c_str(), options.force ? "w" : "wx");
  if (file == nullptr) {
    return fail(errno == EEXIST ? options.out + " is there already; --force overwrites it"
                                : fmt::format("cannot write {}: {}", options.out, std::strerror(errno)));
  }
  const bool written = std::fwrite(page.data(), 1, page.size(), file) == page.size();
  if (std::fclose(file) != 0 || !written) {
    const std::string reason = std::strerror(errno);
    std::remove(options.out.c_str());
    return fail(fmt::format("cannot write {}: {}", options.out, reason));
  }
  return 0;
}

int report(const ReportOptions& options) {
  Results results;
  for (const std::string& file : options.files) {
    try {
      read_results(file, results);
    } catch (const BadResult& e) {
      return fail(e.what());
    }
  }
  std::size_t rows = 0;
  for (const Sweep& sweep : results.sweeps)
    rows += sweep.rows.size();
  if (rows == 0) return fail(options.files.front() + ": nothing was measured");
  const int status = write_page(report_page(results, options.title), options);
  if (status == 0) fmt::print("{}: {} rows of {} sweeps\n", options.out, rows, results.sweeps.size());
  return status;
}

}  // namespace

void add_report_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "report", "Make a page of the JSON results of sweeps: what determinism costs, over message size");
  const auto options = std::make_shared<ReportOptions>();
  command->add_option("RESULT", options->files, "Files of *_perf --json, or table.json of perf/gpu_table")
      ->required();
  command->add_option("-o,--out", options->out, "The page; must not be there")->capture_default_str();
  command->add_option("--title", options->title, "Its title")->capture_default_str();
  command->add_flag("--force", options->force, "Overwrite the page if it is there");
  command->footer(
      "The page needs nothing else: no scripts, no network. Exit status: 0, or 2 for a file that is damaged\n"
      "or not a sweep's result, or for bad usage; then nothing is written.");
  command->callback([options, &status] { status = report(*options); });
}

}  // namespace detccl::cli
