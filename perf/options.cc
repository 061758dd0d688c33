// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <sstream>

#include "collective.h"
#include "option_values.h"

namespace detccl::perf {
namespace {

using contract::DataType;

/// An option that goes through `parse`, a function from text to T.
template <typename T>
void add(CLI::App& app, const char* name, T& value, T (*parse)(const std::string&), const char* kind,
         const char* help) {
  app.add_option_function<std::string>(
         name, [&value, parse](const std::string& text) { value = parse(text); }, help)
      ->type_name(kind);
}

void add_count(CLI::App& app, const char* name, std::uint64_t& value, const char* help, std::uint64_t least) {
  app.add_option(name, value, help)
      ->check(CLI::Range(least, std::uint64_t{1000000}).description(""))
      ->type_name("N")
      ->capture_default_str();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add_nccl_tests_flags(CLI::App& app, Options& o, const Collective& collective) {
  add(app, "-b,--minbytes", o.min_bytes, parse_size, "SIZE", "smallest message [32M]");
  add(app, "-e,--maxbytes", o.max_bytes, parse_size, "SIZE", "largest message [32M]");
  add(app, "-i,--stepbytes", o.step_bytes, parse_size, "SIZE", "added from size to size [1M]");
  add_count(app, "-f,--stepfactor", o.step_factor, "multiplies from size to size, instead of -i, if above 1",
            1);
  add_count(app, "-n,--iters", o.iterations, "timed calls per size; on GPUs: in each round", 1);
  add_count(app, "-w,--warmup_iters", o.warmup, "calls before them", 0);
  add_count(app, "-c,--check", o.checks, "calls after them whose results are checked; 0: none", 0);
  add_count(app, "-G,--graph,--cudagraph", o.graph,
            "capture the calls of a round as a CUDA graph, and launch it N times; 0: no graph", 0);
  add_count(app, "-T,--timeout", o.timeout, "seconds without progress after which a size is given up", 1);
  add(app, "-d,--datatype", o.types, parse_types, "TYPES",
      "all, or some of int8 … uint64, half, float, double, bfloat16, f8e4m3, f8e5m2 [float]");
  if (collective.reduces)
    add(app, "-o,--op", o.ops, parse_operations, "OPS", "all, or some of sum|prod|min|max|avg [sum]");
  if (collective.rooted) add_count(app, "-r,--root", o.root, "the root's rank", 0);
}

/// Options that are understood together with others.
struct Text {
  std::string contract, schedule, against, child;
};

void add_own_flags(CLI::App& app, Options& o, Text& text, bool reduces) {
  app.add_flag("--host", o.host, "buffers in host memory, and the NCCL for it");
  add_count(app, "--ranks,--np", o.ranks, "start so many processes, without a launcher; 0: do not", 0);
  app.add_flag("--in-place", o.in_place, "one buffer for send and receive");
  app.add_option("--against", text.against,
                 "time that too, in turn, in the same run [native on GPUs, none on the host]")
      ->type_name("mpi|native|none");
  add_count(app, "--rounds", o.rounds, "on GPUs: so many batches of each, in turn", 1);
  app.add_option("--row-seconds", o.row_seconds,
                 "make a size's batches fewer and shorter to take about that time")
      ->check(CLI::Range(0.0, 3600.0).description(""))
      ->type_name("S");
  app.add_flag("--host-time", o.host_time, "show the host's time to enqueue a call");
  app.add_option("--contract", text.contract, "the contract [DETCCL_CONTRACT, else tree]")
      ->type_name("CONTRACT");
  app.add_option("--schedule", text.schedule,
                 "the schedules, one table each; all: the library's choice, then each [DETCCL_SCHEDULE]")
      ->type_name("SCHEDULES");
  app.add_option("--native-algo", o.native_algo, "NCCL_ALGO of the native communicator alone: ring, tree …")
      ->type_name("ALGO");
  if (reduces) {
    add(app, "--bits", o.repeats, parse_repeats, "all|none|split,communicator",
        "compare also with the same buffer in two calls, and with another communicator [split]");
    add(app, "--inject", o.fault, parse_fault, "RANK:CALL:ULPS",
        "falsify an element of what RANK received in checked call number CALL of each size");
  }
  add(app, "--bench", o.bench, parse_bench, "auto|socket|p2p|none",
      "how ranks that share a GPU reach each other [auto]");
  app.add_option("--nccl", o.nccl, "the native NCCL [DETCCL_NCCL_LIBRARY, else the loader's libnccl.so.2]")
      ->type_name("FILE");
  app.add_option("--detccl", o.detccl, "libdetccl.so [in ../lib beside this program]")->type_name("FILE");
  app.add_option("--json", o.json, "also write the results there")->type_name("FILE");
  app.add_option("--commit", o.commit, "the source's commit, for the results")
      ->type_name("ID")
      ->capture_default_str();
  app.add_option("--child", text.child)->group("");  // what a supervisor tells its children
  app.set_version_flag("--version", app.get_name() + " " DETCCL_VERSION);
}

void check_together(const Options& o, const Collective& collective) {
  const auto refuse = [](bool wrong, const char* why) {
    if (wrong) throw CLI::ValidationError(why);
  };
  refuse(o.min_bytes > o.max_bytes, "-b is larger than -e");
  refuse(o.step_factor == 1 && o.step_bytes == 0, "-i 0 goes nowhere");
  refuse(o.host && o.graph > 0, "--graph is for GPUs: the host has none");
  refuse(o.host && o.host_time, "--host-time is for GPUs: calls on host memory end before they return");
  refuse(!o.host && o.against == Against::mpi, "--against mpi is for --host");
  refuse(o.against == Against::mpi && collective.mpi == nullptr, "--against mpi is for reductions");
  refuse(o.in_place && !collective.can_be_in_place, "--in-place: this collective has two buffers");
  refuse(o.fault.rank >= 0 && o.fault.call >= o.checks,
         "--inject: there is no such call: calls are those of -c, from 0 on");
  const bool own_processes = o.ranks > 0 || o.schedules.size() > 1;
  refuse(o.against == Against::mpi && own_processes, "--against mpi takes mpirun and one schedule");
  refuse(o.against == Against::mpi && o.in_place && collective.sends_parts,
         "--against mpi: its reduce-scatter in place is another than NCCL's");
}

void understand(Options& o, const Text& text) {
  if (!text.contract.empty()) o.contract = contract_of(text.contract);
  o.schedules = schedules_of(text.schedule, o.contract);
  o.against = !text.against.empty() ? parse_against(text.against)
              : o.host              ? Against::nothing
                                    : Against::native;
  if (!text.child.empty()) o.child = parse_child(text.child);
}

}  // namespace

const char* name(Bench bench) {
  switch (bench) {
    case Bench::socket:
      return "socket";
    case Bench::p2p:
      return "p2p";
    case Bench::none:
      return "none";
    case Bench::automatic:
      break;
  }
  return "auto";
}

Parsed parse_options(int argc, char** argv, const Collective& collective) {
  Parsed parsed;
  Options& o = parsed.options;
  Text text;
  o.commit = DETCCL_COMMIT;
  o.nccl = environment("DETCCL_NCCL_LIBRARY");
  text.contract = environment("DETCCL_CONTRACT");
  text.schedule = environment("DETCCL_SCHEDULE");
  CLI::App app("Times a collective of DetCCL beside the native one, and checks its results.",
               collective.program);
  app.set_help_flag("-h,--help", "this text");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // as in other programs
  add_nccl_tests_flags(app, o, collective);
  add_own_flags(app, o, text, collective.reduces);
  try {
    app.parse(argc, argv);
    understand(o, text);
    check_together(o, collective);
    parsed.run = true;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    parsed.exit_code = app.exit(e, out, err) == 0 ? 0 : 2;
    parsed.text = out.str() + err.str();
  }
  return parsed;
}

std::vector<Task> tasks(const Options& o, const Collective& collective, int ranks) {
  std::vector<Task> list;
  for (const DataType type : o.types) {
    const std::uint64_t element = contract::size_of(type), parts = static_cast<std::uint64_t>(ranks);
    for (const contract::Op op : o.ops) {
      for (std::uint64_t bytes = o.min_bytes; bytes <= o.max_bytes;) {
        // Parts begin at multiples of 16 bytes, as in nccl-tests.
        const std::uint64_t per_rank = bytes / element / parts / (16 / element) * (16 / element);
        const bool in_parts = collective.sends_parts || collective.receives_parts;
        const std::uint64_t count = in_parts ? per_rank : bytes / element;
        list.push_back({type, op, count * element * (in_parts ? parts : 1), count});
        if (o.step_factor > 1 && bytes == 0) break;
        bytes = o.step_factor > 1 ? bytes * o.step_factor : bytes + o.step_bytes;
      }
    }
  }
  return list;
}

}  // namespace detccl::perf
