// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "cli/trace_diff.h"
#include "cli/trace_export.h"
#include "cli/trace_html.h"
#include "cli/trace_list.h"
#include "cli/trace_show.h"
#include "trace/compression.h"
#include "trace/diff.h"
#include "trace/folder.h"
#include "trace/seal.h"

namespace detccl::cli {
namespace {

constexpr const char* kTraceHelp = "A folder of rank-*.dtr files, or one such file";

struct DiffArguments {
  std::string a, b, html;
  std::optional<std::uint32_t> rank;
  trace::DiffOptions options;
  bool json = false;
};

int fail(const std::string& reason) {
  std::cerr << "detccl trace: " << reason << '\n';
  return 2;
}

int run_diff(DiffArguments arguments) {
  arguments.options.steps = !arguments.html.empty();
  const trace::RunDiff diff = trace::diff_runs(arguments.a, arguments.b, arguments.rank, arguments.options);
  std::cout << (arguments.json ? diff_json(diff) : diff_text(diff)) << std::flush;
  if (!arguments.html.empty()) {
    std::ofstream file(arguments.html);
    file << diff_html(diff, arguments.a, arguments.b);
    if (!file.flush()) return fail("cannot write " + arguments.html);
  }
  return static_cast<int>(diff.verdict);
}

int run_seal(const std::string& path) {
  std::string error;
  const trace::RankFiles ranks = trace::list_ranks(path, error);
  if (ranks.empty()) return fail(error);
  std::uint64_t before = 0, after = 0, files = 0, cut = 0;
  int status = 0;
  for (const auto& [rank, parts] : ranks) {
    for (const std::string& file : parts) {
      trace::Sealed sealed;
      if (!trace::seal(file, sealed, error)) {
        status = fail(error);
        continue;
      }
      before += sealed.bytes_before;
      after += sealed.bytes_after;
      ++files;
      if (!sealed.was_whole) ++cut;
    }
  }
  fmt::print("sealed {} files: {} bytes, before {}; {} had been cut short{}\n", files, after, before, cut,
             trace::can_compress() ? "" : "; this build has no zstd, so they are not packed");
  return status;
}

void add_diff(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("diff", "Find where two runs first differ");
  const auto arguments = std::make_shared<DiffArguments>();
  command->add_option("A", arguments->a, kTraceHelp)->required();
  command->add_option("B", arguments->b, "The other run")->required();
  command->add_option("--until", arguments->options.until, "Look at no step after this one");
  command->add_option("--rank", arguments->rank, "Compare this rank only");
  command->add_flag("--full", arguments->options.ignore_rollups, "Read every record, not the rollups first");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_option("--html", arguments->html, "Also write a page with a map of ranks and steps");
  command->footer(
      "Exit status: 0 nothing differs; 1 something does; 2 nothing found, but not all could be compared, or "
      "bad "
      "usage.");
  command->callback([arguments, &status] { status = run_diff(*arguments); });
}

void add_list(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("ls", "List the ranks of a trace, and what is there of each");
  const auto path = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option("TRACE", *path, kTraceHelp)->required();
  command->add_flag("--json", *json, "Print JSON");
  command->callback([path, json, &status] {
    std::string error;
    const auto listing = list_trace(*path, error);
    if (listing.empty()) {
      status = fail(error);
      return;
    }
    std::cout << (*json ? listing_json(listing) : listing_text(listing)) << std::flush;
  });
}

void add_filter_options(CLI::App& command, RecordFilter& filter) {
  command.add_option("--rank", filter.rank, "Only this rank");
  command.add_option("--steps", filter.steps, "Only these steps: 7, or 100-120");
  command.add_option("--communicator", filter.communicator, "Only this one, by name or key");
  command.add_option("--operation", filter.operation, "Only this kind: all_reduce, send …");
}

void add_show(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("show", "Print operations");
  const auto path = std::make_shared<std::string>();
  const auto filter = std::make_shared<RecordFilter>();
  command->add_option("TRACE", *path, kTraceHelp)->required();
  add_filter_options(*command, *filter);
  command->callback([path, filter, &status] {
    std::string error;
    filter->parse();
    if (!show_trace(*path, *filter, std::cout, error)) status = fail(error);
  });
}

void add_export(CLI::App& app, int& status) {
  struct Arguments {
    std::string path, format, out;
    RecordFilter filter;
  };
  CLI::App* command = app.add_subcommand("export", "Write operations in another format");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("TRACE", arguments->path, kTraceHelp)->required();
  command
      ->add_option("--format", arguments->format,
                   "jsonl (a folder with a file per rank), chrome (for Perfetto) or csv")
      ->required()
      ->check(CLI::IsMember({"jsonl", "chrome", "csv"}));
  command->add_option("--out", arguments->out, "The file, or for jsonl the folder; must not be there")
      ->required();
  add_filter_options(*command, arguments->filter);
  command->callback([arguments, &status] {
    std::string error;
    arguments->filter.parse();
    if (!export_trace(arguments->path, arguments->format, arguments->out, arguments->filter, error)) {
      status = fail(error);
    }
  });
}

void add_seal(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("seal", "Pack trace files, and give those of killed processes their index");
  const auto path = std::make_shared<std::string>();
  command->add_option("TRACE", *path, kTraceHelp)->required();
  command->callback([path, &status] { status = run_seal(*path); });
}

}  // namespace

void add_trace_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("trace", "List, show, compare and export traces");
  command->require_subcommand(1);
  add_list(*command, status);
  add_show(*command, status);
  add_diff(*command, status);
  add_export(*command, status);
  add_seal(*command, status);
}

}  // namespace detccl::cli
