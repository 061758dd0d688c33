// SPDX-License-Identifier: Apache-2.0
#include "option_values.h"

#include <CLI/CLI.hpp>

#include <array>
#include <sstream>
#include <stdexcept>

#include "plan/plan.h"

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

/// "a,b" in its parts. What is in parentheses stays together: "tree,hier(direct,halving)/8" has two.
std::vector<std::string> parts(const std::string& text, char separator = ',') {
  std::vector<std::string> list;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    const bool open = !list.empty() && list.back().rfind('(') != std::string::npos &&
                      list.back().rfind(')') == std::string::npos;
    if (open) {
      list.back() += separator + part;
    } else {
      list.push_back(part);
    }
  }
  return list;
}

}  // namespace

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

Against parse_against(const std::string& text) {
  if (text == "mpi") return Against::mpi;
  if (text == "native") return Against::native;
  if (text == "none") return Against::nothing;
  throw CLI::ValidationError("unknown peer '" + text + "': mpi|native|none");
}

Bench parse_bench(const std::string& text) {
  for (const Bench bench : {Bench::automatic, Bench::socket, Bench::p2p, Bench::none}) {
    if (text == name(bench)) return bench;
  }
  throw CLI::ValidationError("unknown bench '" + text + "': auto|socket|p2p|none");
}

std::vector<DataType> parse_types(const std::string& text) {
  std::vector<DataType> types;
  if (text == "all") {
    for (const TypeName& t : kTypeNames)
      types.push_back(t.type);
    return types;
  }
  for (const std::string& part : parts(text))
    types.push_back(parse_type(part));
  if (types.empty()) throw CLI::ValidationError("no type");
  return types;
}

std::vector<contract::Op> parse_operations(const std::string& text) {
  using contract::Op;
  if (text == "all") return {Op::sum, Op::prod, Op::max, Op::min, Op::avg};
  std::vector<Op> ops;
  for (const std::string& part : parts(text))
    ops.push_back(parse_operation(part));
  if (ops.empty()) throw CLI::ValidationError("no operation");
  return ops;
}

std::vector<std::string> schedules_of(const std::string& text, const contract::Contract& c) {
  if (text != "all") return parts(text);
  std::vector<std::string> list{"auto"};
  for (const std::string& schedule : parts(std::string(plan::kScheduleNames), '|')) {
    const bool linear = c.order == contract::Order::linear;
    if (linear ? schedule == "tree" || schedule == "halving" : schedule == "ring") continue;
    list.push_back(schedule);
  }
  return list;
}

contract::Contract contract_of(const std::string& text) {
  const std::optional<contract::Contract> c = contract::parse_contract(text);
  if (!c)
    throw CLI::ValidationError("unknown contract '" + text + "': " + std::string(contract::kContractSyntax));
  return *c;
}

Fault parse_fault(const std::string& text) {
  Fault fault;
  char first = 0, second = 0;
  std::istringstream in(text);
  in >> fault.rank >> first >> fault.call >> second >> fault.ulps;
  if (!in || !in.eof() || first != ':' || second != ':' || fault.rank < 0 || fault.ulps == 0)
    throw CLI::ValidationError("'" + text + "' is no RANK:CALL:ULPS, three numbers, the last one not 0");
  return fault;
}

Repeats parse_repeats(const std::string& text) {
  if (text == "all") return {true, true};
  Repeats repeats{false, false};
  for (const std::string& part : parts(text)) {
    if (part == "split")
      repeats.split = true;
    else if (part == "communicator")
      repeats.communicator = true;
    else if (part != "none")
      throw CLI::ValidationError("unknown comparison '" + part +
                                 "': all|none, or some of split,communicator");
  }
  return repeats;
}

ChildPlace parse_child(const std::string& text) {
  ChildPlace place;
  char comma = 0;
  std::istringstream in(text);
  in >> place.fd >> comma >> place.rank >> comma >> place.ranks >> comma >> place.first_step;
  if (!in) throw CLI::ValidationError("--child is not for users");
  return place;
}

std::string type_name(DataType type) {
  for (const TypeName& t : kTypeNames) {
    if (t.type == type) return t.text;
  }
  return "?";
}

}  // namespace detccl::perf
