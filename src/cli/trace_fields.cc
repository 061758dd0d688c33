// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_fields.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "contract/types.h"

namespace detccl::cli {
namespace {

using trace::Communicator;
using trace::Kind;
using trace::Record;

/// As torch names its types in the Flight Recorder.
std::string torch_type(std::uint8_t type) {
  constexpr std::array<std::string_view, contract::kDataTypes> kNames = {
      "Char", "Byte",  "Int",    "UInt32",   "Long",          "UInt64",
      "Half", "Float", "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};
  return type < kNames.size() ? std::string(kNames[type]) : trace::type_name(type);
}

struct Sizes {
  std::uint64_t input = 0, output = 0;  ///< elements
};

/// From the call's count, which is that of one rank's part where a collective has parts.
Sizes sizes_of(const Record& r, std::uint64_t ranks) {
  switch (r.kind) {
    case Kind::reduce_scatter:
    case Kind::scatter:
      return {r.count * ranks, r.count};
    case Kind::all_gather:
    case Kind::gather:
      return {r.count, r.count * ranks};
    case Kind::all_to_all:
      return {r.count * ranks, r.count * ranks};
    default:
      return {r.count, r.count};
  }
}

nlohmann::ordered_json list_of(bool there, const nlohmann::ordered_json& value) {
  auto list = nlohmann::ordered_json::array();
  if (there) list.push_back(value);
  return list;
}

nlohmann::ordered_json number_or_null(std::uint32_t value, std::uint32_t none) {
  return value == none ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

}  // namespace

std::string profiling_name(const Record& r, const trace::Tables& tables) {
  const auto kind = static_cast<std::uint8_t>(r.kind);
  std::string name = "nccl:" + trace::kind_name(kind);
  const Communicator* communicator = tables.communicator(r.communicator);
  if (trace::is_p2p(kind) && communicator != nullptr) {
    name += fmt::format(" {}{}{}", communicator->rank, r.kind == Kind::send ? "->" : "<-", r.peer);
  }
  return name;
}

std::string group_name(const Record& r, const trace::Tables& tables) {
  const Communicator* communicator = tables.communicator(r.communicator);
  if (communicator != nullptr && !communicator->name.empty()) return printable(communicator->name);
  return fmt::format("{:016x}", r.communicator);
}

nlohmann::ordered_json fields_of(const Record& r, const trace::Tables& tables) {
  const Communicator* communicator = tables.communicator(r.communicator);
  const auto kind = static_cast<std::uint8_t>(r.kind);
  const bool p2p = trace::is_p2p(kind);
  const bool input = (r.flags & trace::kNoInput) == 0, output = (r.flags & trace::kNoOutput) == 0;
  const Sizes sizes = sizes_of(r, communicator == nullptr ? 1 : communicator->size);
  const std::string type = torch_type(r.type);
  nlohmann::ordered_json fields;
  fields["record_id"] = r.sequence;
  fields["pg_id"] = communicator == nullptr ? nlohmann::ordered_json()
                                            : nlohmann::ordered_json(communicator->creation_order);
  fields["pg_name"] = group_name(r, tables);
  fields["pg_key"] = fmt::format("{:016x}", r.communicator);
  fields["collective_seq_id"] =
      p2p ? nlohmann::ordered_json() : nlohmann::ordered_json(r.communicator_sequence);
  fields["p2p_seq_id"] = p2p ? nlohmann::ordered_json(r.communicator_sequence) : nlohmann::ordered_json();
  fields["profiling_name"] = profiling_name(r, tables);
  fields["input_sizes"] = list_of(input, nlohmann::ordered_json::array({sizes.input}));
  fields["input_dtypes"] = list_of(input, type);
  fields["output_sizes"] = list_of(output, nlohmann::ordered_json::array({sizes.output}));
  fields["output_dtypes"] = list_of(output, type);
  fields["is_p2p"] = p2p;
  fields["op"] = trace::op_name(r.op);
  fields[p2p ? "peer" : "root"] = number_or_null(r.peer, trace::kNoPeer);
  fields["step"] = number_or_null(r.step, trace::kNoStep);
  fields["phase"] = printable(tables.string(r.phase));
  fields["input_digest"] = input ? nlohmann::ordered_json(trace::to_hex(r.input)) : nlohmann::ordered_json();
  fields["output_digest"] =
      output ? nlohmann::ordered_json(trace::to_hex(r.output)) : nlohmann::ordered_json();
  fields["in_place"] = (r.flags & trace::kInPlace) != 0;
  fields["deterministic"] = (r.flags & trace::kOurs) != 0;
  fields["graph"] = (r.flags & trace::kGraph) != 0;
  fields["group"] = (r.flags & trace::kGroup) != 0;
  return fields;
}

std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  }
  return text;
}

std::string dump(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string dump_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace detccl::cli
