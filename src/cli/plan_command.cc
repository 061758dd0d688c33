// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/plan_report.h"
#include "cli/plan_table.h"

namespace detccl::cli {
namespace {

struct PlanOptions {
  std::string collective = "all_reduce", schedule = "direct", contract = "tree", type = "float32";
  std::string bytes;
  std::uint32_t ranks = 0;
  std::optional<std::uint32_t> root, rank;
  Machine machine;
  bool prove = false, json = false, table = false;
};

[[noreturn]] void reject(const std::string& option, const std::string& value, std::string_view allowed) {
  throw CLI::ValidationError(option, fmt::format("'{}' is not {}", value, allowed));
}

template <class T>
T require(const std::optional<T>& parsed, const std::string& option, const std::string& value,
          std::string_view allowed) {
  if (!parsed) reject(option, value, allowed);
  return *parsed;
}

/// "64M" -> 67108864.
std::optional<std::uint64_t> parse_bytes(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  if (rest == end) return value;
  const std::size_t unit = std::string_view("KMG").find(*rest);
  if (rest + 1 != end || unit == std::string_view::npos) return std::nullopt;
  const auto shift = static_cast<unsigned>(10 * (unit + 1));
  if (value > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return value << shift;
}

contract::DataType type_of(const PlanOptions& o) {
  return require(contract::parse_data_type(o.type), "--type", o.type,
                 "a type: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16, "
                 "float8e4m3, float8e5m2");
}

contract::Contract contract_of(const PlanOptions& o) {
  return require(contract::parse_contract(o.contract), "--contract", o.contract,
                 fmt::format("a contract: {}", contract::kContractSyntax));
}

plan::Spec spec_of(const PlanOptions& o, contract::DataType type) {
  plan::Spec spec;
  spec.collective = require(plan::parse_collective(o.collective), "--collective", o.collective,
                            "all_reduce, reduce_scatter or reduce");
  if (o.ranks == 0) throw CLI::RequiredError("--ranks");
  if (o.bytes.empty()) throw CLI::RequiredError("--bytes");
  spec.schedule = require(plan::parse_schedule(o.schedule), "--schedule", o.schedule, plan::kScheduleSyntax);
  spec.contract = contract_of(o);
  spec.ranks = o.ranks;
  if (o.root && spec.collective != plan::Collective::reduce) {
    throw CLI::ValidationError("--root", "only a reduce has a root");
  }
  spec.root = o.root.value_or(0);
  const std::uint64_t bytes =
      require(parse_bytes(o.bytes), "--bytes", o.bytes, "a size such as 4096, 16K or 64M");
  if (bytes % contract::size_of(type) != 0) {
    reject("--bytes", o.bytes, fmt::format("a whole number of {} elements", o.type));
  }
  spec.count = bytes / contract::size_of(type);
  if (spec.collective == plan::Collective::reduce_scatter && spec.ranks > 0) {
    spec.count /= spec.ranks;
    spec.stride = spec.count;
  }
  if (const auto wrong = plan::check(spec)) throw CLI::ValidationError("plan", std::string(*wrong));
  if (o.rank && *o.rank >= spec.ranks) throw CLI::ValidationError("--rank", "no such rank");
  return spec;
}

int run(const PlanOptions& o) {
  const contract::DataType type = type_of(o);
  if (o.table) {
    constexpr std::uint64_t kElements = std::uint64_t{16} << 20;  // long enough that no rounding shows
    std::cout << plan_table(contract_of(o), type, kElements) << std::flush;
    return 0;
  }
  const PlanReport report = report_plan(spec_of(o, type), type, o.rank, o.prove, o.machine);
  std::cout << (o.json ? to_json(report) : to_text(report)) << std::flush;
  return exit_status(report);
}

}  // namespace

void add_plan_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("plan", "Show what a plan costs, and prove it");
  const auto options = std::make_shared<PlanOptions>();
  command->add_option("--collective", options->collective, "all_reduce, reduce_scatter or reduce")
      ->capture_default_str();
  command->add_option("--ranks", options->ranks, "Ranks of the communicator; required, but for --table");
  command->add_option(
      "--bytes", options->bytes,
      "Payload bytes of the whole message, with K, M or G for 2^10, 2^20 or 2^30. reduce_scatter: of "
      "all shards together, each shard a whole number of elements");
  command->add_option("--schedule", options->schedule, std::string(plan::kScheduleSyntax))
      ->capture_default_str();
  command->add_option("--contract", options->contract, std::string(contract::kContractSyntax))
      ->capture_default_str();
  command->add_option("--type", options->type, "Element type")->capture_default_str();
  command->add_option("--root", options->root, "reduce: the rank that gets the result; 0 if not given");
  command->add_option("--rank", options->rank, "Show the figures of this rank too");
  command
      ->add_option("--near", options->machine.near,
                   "Consecutive ranks that reach each other over NVLink, for the memory of connections")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--channels", options->machine.channels,
          "Channels of a peer, likewise; [NCCL_NCHANNELS_PER_NET_PEER, else 4 up to 32 ranks, 2 beyond]")
      ->check(CLI::PositiveNumber);
  command->add_flag("--prove", options->prove, "Prove the plan, out of place and in place");
  command->add_flag("--table", options->table,
                    "Instead: a table of all_reduce over 8 to 16385 ranks, for --contract and --type");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Exit status: 0; 1 if the proof fails; 2 for bad usage.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace detccl::cli
