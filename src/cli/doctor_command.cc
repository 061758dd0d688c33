// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <string>

#include "cli/doctor/doctor_report.h"
#include "cli/doctor/environment_checks.h"
#include "cli/doctor/findings.h"
#include "cli/doctor/watch.h"
#include "cli/elf_file.h"
#include "cli/launch.h"

namespace detccl::cli {
namespace {

struct DoctorOptions {
  LaunchOptions launch;
  unsigned timeout = 60;
  bool to_the_end = false, json = false;
};

std::set<std::string, std::less<>> functions_of(const std::string& library) {
  const auto file = ElfFile::open(library);
  return file ? file->defined() : std::set<std::string, std::less<>>();
}

void run_command(const DoctorOptions& options, Diagnosis& diagnosis) {
  const Placement placement = put_in_front(options.launch);
  diagnosis.placed = placement.library;
  diagnosis.why = placement.why;
  if (placement.host)
    diagnosis.notes.push_back("NCCL on host memory is underneath: " + placement.host_folder);
  const std::string folder = library_folder();
  require(folder + "/libdetccl_audit.so");
  const Watched watched = watch({.command = options.launch.command,
                                 .audit_library = folder + "/libdetccl_audit.so",
                                 .detccl = {folder + "/libdetccl.so", folder + "/shim/libnccl.so.2"},
                                 .functions = functions_of(placement.library),
                                 .timeout = std::chrono::seconds(options.timeout),
                                 .to_the_end = options.to_the_end});
  diagnosis.ended = watched.ended;
  if (watched.failed) {
    diagnosis.problems.push_back(
        fmt::format("the command {}{}", watched.ended,
                    watched.output.empty() ? "" : "; the end of its output:\n" + watched.output));
  }
  add_findings(watched, diagnosis);
}

Diagnosis diagnose(const DoctorOptions& options) {
  Diagnosis diagnosis;
  diagnosis.command = fmt::format("{}", fmt::join(options.launch.command, " "));
  set_variables(options.launch);
  check_environment_variables(diagnosis);
  diagnosis.program = find_program(options.launch.command.front());
  if (diagnosis.program.empty()) {
    diagnosis.ended = "not started";
    diagnosis.problems.push_back(options.launch.command.front() + ": there is no such program");
    return diagnosis;
  }
  check_program(diagnosis.program, diagnosis);
  run_command(options, diagnosis);
  return diagnosis;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("doctor",
                                         "Run a command's start-up as detccl run would, and tell which NCCL "
                                         "it loads and whether DetCCL is in the "
                                         "path of its calls: detccl doctor [options] -- program [arguments]");
  const auto options = std::make_shared<DoctorOptions>();
  add_launch_options(*command, options->launch, "DETCCL_TIMEOUT");
  command->add_option("--timeout", options->timeout, "End the command after so many seconds")
      ->check(CLI::Range(1u, 86400u))
      ->capture_default_str();
  command->add_flag("--to-the-end", options->to_the_end,
                    "Let the command run to its end or the time limit, not only until enough has been seen");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Exit status: 0 if all is fine; 1 if there is a problem; 2 for bad usage.");
  command->callback([options, &status] {
    const Diagnosis diagnosis = diagnose(*options);
    std::cout << (options->json ? to_json(diagnosis) : to_text(diagnosis)) << std::flush;
    status = exit_status(diagnosis);
  });
}

}  // namespace detccl::cli
