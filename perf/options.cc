// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace detccl::perf {
namespace {

using contract::DataType;

struct TypeName {
  const char* text;
  DataType type;
};
constexpr std::array<TypeName, 12> kTypeNames{{{"int8", DataType::int8},
                                               {"uint8", DataType::uint8},
                                               {"int32", DataType::int32},
                                               {"uint32", DataType::uint32},
                                               {"int64", DataType::int64},
                                               {"uint64", DataType::uint64},
                                               {"half", DataType::float16},
                                               {"float", DataType::float32},
                                               {"double", DataType::float64},
                                               {"bfloat16", DataType::bfloat16},
                                               {"f8e4m3", DataType::float8e4m3},
                                               {"f8e5m2", DataType::float8e5m2}}};

/// "64", "4K", "1.5M", "1G" in bytes.
std::uint64_t parse_size(const std::string& text) {
  std::size_t used = 0;
  double value = -1.0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  std::uint64_t unit = 1;
  const std::string suffix = text.substr(std::min(used, text.size()));
  if (suffix == "K" || suffix == "k")
    unit = std::uint64_t{1} << 10;
  else if (suffix == "M" || suffix == "m")
    unit = std::uint64_t{1} << 20;
  else if (suffix == "G" || suffix == "g")
    unit = std::uint64_t{1} << 30;
  else if (!suffix.empty())
    value = -1.0;
  if (!(value >= 0.0 && value < 1e12))
    throw CLI::ValidationError("'" + text + "' is no size: a number, then K, M or G");
  return static_cast<std::uint64_t>(value * static_cast<double>(unit));
}

DataType parse_type(const std::string& text) {
  std::string all;
  for (const TypeName& t : kTypeNames) {
    if (text == t.text) return t.type;
    all += (all.empty() ? "" : "|") + std::string(t.text);
  }
  throw CLI::ValidationError("unknown type '" + text + "': " + all);
}

contract::Op parse_operation(const std::string& text) {
  const std::optional<contract::Op> op = contract::parse_op(text);
  if (!op || *op == contract::Op::premulsum) {
    throw CLI::ValidationError("unknown operation '" + text + "': sum|prod|min|max|avg");
  }
  return *op;
}

Against parse_against(const std::string& text) {
  if (text == "mpi") return Against::mpi;
  if (text == "native") return Against::native;
  throw CLI::ValidationError("unknown peer '" + text + "': mpi|native");
}

contract::Contract contract_of(const std::string& text) {
  const std::optional<contract::Contract> c = contract::parse_contract(text);
  if (!c)
    throw CLI::ValidationError("unknown contract '" + text + "': " + std::string(contract::kContractSyntax));
  return *c;
}

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

void add_nccl_tests_flags(CLI::App& app, Options& o) {
  add(app, "-b,--minbytes", o.min_bytes, parse_size, "SIZE", "smallest message [32M]");
  add(app, "-e,--maxbytes", o.max_bytes, parse_size, "SIZE", "largest message [32M]");
  add(app, "-i,--stepbytes", o.step_bytes, parse_size, "SIZE", "added from size to size [1M]");
  add_count(app, "-f,--stepfactor", o.step_factor, "multiplies from size to size, instead of -i, if above 1",
            1);
  add_count(app, "-n,--iters", o.iterations, "timed calls per size", 1);
  add_count(app, "-w,--warmup_iters", o.warmup, "calls before them", 0);
  add_count(app, "-c,--check", o.checks, "calls whose results are checked; 0: none", 0);
  add(app, "-d,--datatype", o.type, parse_type, "TYPE",
      "int8 … uint64, half, float, double, bfloat16, f8e4m3, f8e5m2 [float]");
  add(app, "-o,--op", o.op, parse_operation, "OP", "sum|prod|min|max|avg [sum]");
}

void add_own_flags(CLI::App& app, Options& o, std::string& contract_text) {
  app.add_flag("--host", o.host, "buffers in host memory");
  app.add_flag("--in-place", o.in_place, "one buffer for send and receive");
  add(app, "--against", o.against, parse_against, "mpi|native",
      "time that too, call by call in turn, in the same run");
  app.add_option("--contract", contract_text, "the contract [DETCCL_CONTRACT, else tree]")
      ->type_name("CONTRACT");
  app.add_option("--schedule", o.schedule, "the schedule [DETCCL_SCHEDULE, else the library's choice]")
      ->type_name("SCHEDULE");
  app.add_option("--json", o.json, "also write the results there")->type_name("FILE");
  app.add_option("--commit", o.commit, "the source's commit, for the results")
      ->type_name("ID")
      ->capture_default_str();
  app.set_version_flag("--version", app.get_name() + " " DETCCL_VERSION);
}

void check_together(const Options& o) {
  if (o.min_bytes > o.max_bytes) throw CLI::ValidationError("-b is larger than -e");
  if (o.step_factor == 1 && o.step_bytes == 0) throw CLI::ValidationError("-i 0 goes nowhere");
  if (!o.host) throw CLI::ValidationError("this version measures host memory only: add --host");
}

}  // namespace

Parsed parse_options(int argc, char** argv, const std::string& program) {
  Parsed parsed;
  Options& o = parsed.options;
  o.commit = DETCCL_COMMIT;
  o.schedule = environment("DETCCL_SCHEDULE");
  std::string contract_text = environment("DETCCL_CONTRACT");
  CLI::App app("Times a collective of DetCCL and checks its results. Start it with mpirun.", program);
  app.set_help_flag("-h,--help", "this text");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // as in other programs
  add_nccl_tests_flags(app, o);
  add_own_flags(app, o, contract_text);
  try {
    app.parse(argc, argv);
    check_together(o);
    if (!contract_text.empty()) o.contract = contract_of(contract_text);
    parsed.run = true;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    parsed.exit_code = app.exit(e, out, err) == 0 ? 0 : 2;
    parsed.text = out.str() + err.str();
  }
  return parsed;
}

std::vector<std::uint64_t> sizes(const Options& o) {
  std::vector<std::uint64_t> list;
  const std::uint64_t element = contract::size_of(o.type);
  for (std::uint64_t bytes = o.min_bytes; bytes <= o.max_bytes;) {
    list.push_back(bytes / element * element);
    if (o.step_factor > 1 && bytes == 0) break;
    bytes = o.step_factor > 1 ? bytes * o.step_factor : bytes + o.step_bytes;
  }
  return list;
}

std::string type_name(DataType type) {
  for (const TypeName& t : kTypeNames) {
    if (t.type == type) return t.text;
  }
  return "?";
}

}  // namespace detccl::perf
