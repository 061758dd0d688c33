// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/plan_report.h"
#include "cli/plan_table.h"
#include "cli/plan_why.h"

namespace detccl::cli {
namespace {

struct PlanOptions {
  std::string collective = "all_reduce", schedule = "direct", contract = "tree", type = "float32";
  std::string bytes, tuning;
  std::uint32_t ranks = 0, group = 0;
  bool why = false, host = false, schedule_given = false;
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

Why why_of(const PlanOptions& o, contract::DataType type) {
  PlanOptions with = o;
  if (!o.schedule_given) with.schedule = "direct";  // supports every contract
  const plan::Spec spec = spec_of(with, type);
  if (spec.count == 0) reject("--bytes", o.bytes, "something to choose for");
  engine::Settings settings = o.host ? engine::Settings() : engine::gpu_defaults();
  settings.contract = spec.contract;
  if (o.schedule_given) settings.schedule = spec.schedule;
  settings.group = o.group != 0 ? o.group : o.host ? std::bit_floor(spec.ranks) : 8;
  if (o.group == 0 && o.host) settings.near = spec.ranks;
  if (!std::has_single_bit(settings.group)) throw CLI::ValidationError("--group", "not a power of two");
  const std::uint64_t shards = spec.collective == plan::Collective::reduce_scatter ? spec.ranks : 1;
  const auto question = engine::question(settings, spec.collective, spec.ranks, type,
                                         spec.count * shards * contract::size_of(type));
  try {
    return explain(settings, question, o.host, o.tuning);
  } catch (const std::invalid_argument& e) {
    throw CLI::ValidationError("--tuning", e.what());
  }
}

int run(const PlanOptions& o) {
  const contract::DataType type = type_of(o);
  if (o.why) {
    const Why why = why_of(o, type);
    std::cout << (o.json ? to_json(why) : to_text(why)) << std::flush;
    return 0;
  }
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
  CLI::Option* const schedule =
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
      ->add_option("--channels", options->machine.channels,
                   "Channels of a peer, likewise [inside a domain all; else NCCL_NCHANNELS_PER_NET_PEER, "
                   "else 4, NCCL's where "
                   "a rank has very many peers]")
      ->check(CLI::PositiveNumber);
  command->add_flag("--prove", options->prove, "Prove the plan, out of place and in place");
  command->add_flag("--table", options->table,
                    "Instead: a table of all_reduce over 8 to 16385 ranks, for --contract and --type");
  command->add_flag(
      "--why", options->why,
      "Instead: which schedule and chunk a job chooses (of --schedule, if given, only the chunk), "
      "with the predicted times of all that there are, and the reason");
  command->add_option(
      "--tuning", options->tuning,
      "--why: the job's DETCCL_TUNING file, or figures that are built in: host, h200 or gb200");
  command->add_option(
      "--group", options->group,
      "--why: so many consecutive ranks are near each other, a power of two; 8 if not given, with "
      "--host all");
  command->add_flag("--host", options->host, "--why: on host memory");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Exit status: 0; 1 if the proof fails; 2 for bad usage.");
  command->callback([options, schedule, &status] {
    options->schedule_given = schedule->count() > 0;
    status = run(*options);
  });
}

}  // namespace detccl::cli
