// SPDX-License-Identifier: Apache-2.0
// scaling_bench: how what a rank does on the host grows with the number of ranks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "scaling_bench/measure.h"
#include "scaling_bench/virtual_ranks.h"

namespace {

using Json = nlohmann::ordered_json;
namespace scaling = detccl::perf::scaling;
namespace plan = detccl::plan;

struct Options {
  std::vector<std::uint32_t> ranks{8, 64, 512, 2432, 4096, 16384};
  std::string schedule = "hier(direct,halving)/8";
  std::uint64_t bytes = 64u << 20;
  std::uint64_t elements = 4096;
  std::uint32_t most_virtual = 16384;
  int repeats = 5;
  std::string json_file, commit = DETCCL_COMMIT;
};

Json measure(const Options& o, plan::Schedule schedule, std::uint32_t ranks) {
  const auto step = [ranks](const char* what) { fmt::print(stderr, "# {} ranks: {}\n", ranks, what); };
  Json row = {{"ranks", ranks}};
  step("plans");
  const scaling::Planning planning = scaling::plan_calls(schedule, ranks, o.bytes, o.repeats);
  row["plan"] = {{"first_call_us", planning.first_us},
                 {"later_call_us", planning.later_us},
                 {"heap_bytes", planning.heap},
                 {"chunks", planning.chunks},
                 {"transfers_of_a_chunk", planning.transfers}};
  step("proof");
  row["proof_seconds"] = scaling::prove_seconds(schedule, ranks, o.bytes);
  step("agreement");
  const scaling::Agreement agreement = scaling::agree(ranks, o.repeats);
  row["agreement"] = {{"us", agreement.us}, {"bytes", agreement.bytes}, {"group_found", agreement.group}};
  step("trace");
  const scaling::Trace trace = scaling::trace_size(ranks);
  row["trace"] = {{"fixed_bytes", trace.fixed_bytes},
                  {"bytes_per_record", trace.bytes_per_record},
                  {"us_per_record", trace.us_per_record}};
  if (ranks > o.most_virtual) return row;
  step("calls");
  const scaling::Calls calls = scaling::run_calls(schedule, ranks, o.elements, o.repeats);
  row["call"] = {{"us_per_rank", calls.us_per_rank},
                 {"stages", calls.stages},
                 {"bytes", calls.bytes},
                 {"equal_to_reference", calls.right}};
  if (!calls.right) throw std::runtime_error("some rank has not the contract's bits");
  return row;
}

void print_row(const Json& row) {
  const auto number = [&row](const char* part, const char* name) {
    return row.at(part).at(name).get<double>();
  };
  fmt::print("{:>6} {:>10.1f} {:>10.2f} {:>10.4f} {:>10.1f} {:>10.0f} {:>10.0f} {:>8.1f} {:>10}\n",
             row.at("ranks").get<std::uint32_t>(), number("plan", "first_call_us"),
             number("plan", "later_call_us"), row.at("proof_seconds").get<double>(),
             number("agreement", "us"), number("agreement", "bytes") / 1024, number("trace", "fixed_bytes"),
             number("trace", "bytes_per_record"),
             row.contains("call") ? fmt::format("{:.2f}", number("call", "us_per_rank")) : "-");
  std::fflush(stdout);
}

void write(const Options& o, const Json& document) {
  if (o.json_file.empty()) return;
  std::ofstream out(o.json_file);
  out << document.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + o.json_file);
}

int run(const Options& o) {
  const auto schedule = plan::parse_schedule(o.schedule);
  if (!schedule) throw CLI::ValidationError("--schedule", std::string(plan::kScheduleSyntax));
  Json document = {{"format", "detccl-scaling-1"},
                   {"commit", o.commit},
                   {"schedule", o.schedule},
                   {"planned_bytes", o.bytes},
                   {"repeats", o.repeats},
                   {"results", Json::array()},
                   {"complete", false}};
  fmt::print("# AllReduce by {}, float32; plans and proofs of {} bytes, calls of {} in one process\n",
             o.schedule, o.bytes, o.elements * sizeof(float));
  fmt::print("{:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "ranks", "plan", "later",
             "proof", "agree", "from all", "trace", "a record", "call");
  fmt::print("{:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "", "(us)", "(us)", "(s)",
             "(us)", "(KB)", "(B)", "(B)", "(us/rank)");
  for (const std::uint32_t ranks : o.ranks) {
    document["results"].push_back(measure(o, *schedule, ranks));
    print_row(document["results"].back());
    write(o, document);
  }
  document["complete"] = true;
  write(o, document);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How what a rank does on the host grows with the number of ranks", "scaling_bench");
  Options o;
  app.add_option("--ranks", o.ranks, "numbers of ranks, multiples of 8")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--schedule", o.schedule)->capture_default_str();
  app.add_option("--bytes", o.bytes, "the message that is planned and proved (k, m, g: 2^10 …)")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--elements", o.elements, "of the calls that are run")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--most-virtual", o.most_virtual,
                 "run calls over so many ranks in this process, and no more")
      ->capture_default_str();
  app.add_option("--repeats", o.repeats, "each time is the median of so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", o.json_file, "also write the results there, anew after every row");
  app.add_option("--commit", o.commit, "the source's commit, for the results")->capture_default_str();
  app.footer("Exit status: 0; 1 if something failed; 2 for bad usage.");
  try {
    app.parse(argc, argv);
    for (const std::uint32_t n : o.ranks) {
      if (n == 0 || n % 8 != 0) throw CLI::ValidationError("--ranks", "takes multiples of 8");
    }
    return run(o);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scaling_bench: %s\n", error.what());
    return 1;
  }
}
