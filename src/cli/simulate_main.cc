// SPDX-License-Identifier: Apache-2.0
// detccl-simulate: what `detccl simulate` runs. A program of its own, as SimGrid brings many libraries.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulate/report.h"
#include "simulate/validate.h"

namespace {

using namespace detccl;
using namespace detccl::simulate;

struct Arguments {
  std::string platform = "fat-tree", parameters, contract = "tree", step, json, html;
  std::uint32_t nodes = 0, gpus = 0, nodes_per_leaf = 0;
  double oversubscription = 1;
  std::vector<std::string> collectives = {"all_reduce", "reduce_scatter"}, types = {"bfloat16"}, schedules;
  std::vector<std::uint64_t> sizes = {1u << 20, 4u << 20, 16u << 20, 64u << 20, 256u << 20, 1u << 30};
  std::vector<std::uint64_t> chunks = {0};
  std::uint64_t scratch = gpu_settings().scratch_limit, most_messages = Options().most_messages;
  std::uint32_t lanes = 1;
  std::vector<std::string> validate;
};

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::invalid_argument("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void save(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text;
    return;
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

template <class T>
T need(const std::optional<T>& parsed, const std::string& text) {
  if (!parsed) throw std::invalid_argument("there is no '" + text + "'");
  return *parsed;
}

Platform platform_of(const Arguments& a) {
  Platform p;
  const bool rack = a.platform == "nvl72";
  p.parameters = default_parameters(rack ? "gb200" : "h200");
  if (!a.parameters.empty()) p.parameters = read_parameters(contents(a.parameters), p.parameters);
  p.domains = a.nodes != 0 ? a.nodes : a.platform == "fat-tree" ? 4 : 1;
  p.gpus = a.gpus != 0 ? a.gpus : rack ? 72 : 8;
  p.domains_per_leaf = a.nodes_per_leaf != 0 ? a.nodes_per_leaf : rack ? 8 : 32;
  p.oversubscription = a.oversubscription;
  if (a.platform == "nvswitch" && p.domains != 1)
    throw std::invalid_argument("nvswitch is one node: use fat-tree for several");
  if (p.ranks() < 2) throw std::invalid_argument("two ranks at least");
  return p;
}

Options options_of(const Arguments& a) {
  Options options;
  options.platform = platform_of(a);
  options.settings.contract = need(contract::parse_contract(a.contract), a.contract);
  options.settings.scratch_limit = a.scratch;
  options.settings.lanes = a.lanes;
  options.chunks = a.chunks;
  options.most_messages = a.most_messages;
  return options;
}

/// Those asked for, or all that carry out the contract.
std::vector<plan::Schedule> schedules_of(const Arguments& a, const Options& options) {
  std::vector<std::string> names = a.schedules;
  if (names.empty()) {
    names = {"gather", "direct", "ring", "tree", "halving"};
    const std::uint32_t group = options.platform.gpus & (~options.platform.gpus + 1);
    if (options.platform.domains > 1 && group > 1)
      for (const char* outer : {"halving", "halving:8", "halving:32"})
        names.push_back("hier(direct," + std::string(outer) + ")/" + std::to_string(group));
  }
  std::vector<plan::Schedule> schedules;
  for (const std::string& name : names) {
    const auto schedule = plan::parse_schedule(name);
    if (!a.schedules.empty()) need(schedule, name);
    if (!schedule) continue;
    if (plan::supports(*schedule, options.settings.contract)) {
      schedules.push_back(*schedule);
    } else if (!a.schedules.empty()) {
      throw std::invalid_argument(name + " cannot carry out the contract " + a.contract);
    }
  }
  return schedules;
}

Study predict_all(const Arguments& a) {
  Study result;
  result.options = options_of(a);
  result.schedules = schedules_of(a, result.options);
  if (!a.step.empty())
    result.step = predict_step(read_step(contents(a.step)), result.schedules, result.options);
  for (const std::string& collective : a.collectives) {
    for (const std::string& type : a.types) {
      for (const std::uint64_t bytes : a.sizes) {
        const Case c{need(plan::parse_collective(collective), collective),
                     need(contract::parse_data_type(type), type), bytes};
        if (c.collective == plan::Collective::reduce)
          throw std::invalid_argument("all_reduce and reduce_scatter only");
        result.rows.push_back(study(c, result.schedules, result.options, true));
      }
    }
  }
  return result;
}

void run(const Arguments& a) {
  if (!a.validate.empty()) {
    std::vector<Validation> all;
    for (const std::string& file : a.validate)
      all.push_back(validate(file, contents(file), a.chunks.front()));
    if (a.json != "-") std::cout << validation_text(all);
    if (!a.json.empty()) save(a.json, validation_json(all));
    return;
  }
  const Study result = predict_all(a);
  if (a.json != "-" && a.html != "-") std::cout << to_text(result);
  if (!a.json.empty()) save(a.json, to_json(result));
  if (!a.html.empty()) save(a.html, to_html(result));
}

void add_options(CLI::App& app, Arguments& a) {
  const CLI::AsSizeValue bytes(false);
  app.add_option("--platform", a.platform, "nvswitch (a node), fat-tree (nodes), nvl72 (racks)")
      ->check(CLI::IsMember({"nvswitch", "fat-tree", "nvl72"}))
      ->capture_default_str();
  app.add_option("--nodes", a.nodes, "Nodes, or racks");
  app.add_option("--gpus", a.gpus, "GPUs of a node, or of a rack");
  app.add_option("--nodes-per-leaf", a.nodes_per_leaf, "Nodes on a leaf switch; 32, or 8 racks");
  app.add_option("--oversubscription", a.oversubscription, "Of the leaf switches")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--parameters", a.parameters, "JSON file with other latencies and bandwidths");
  app.add_option("--collective", a.collectives, "all_reduce, reduce_scatter")->capture_default_str();
  app.add_option("--type", a.types, "Element types")->capture_default_str();
  app.add_option("--sizes", a.sizes, "Payload bytes of the whole message, K, M, G; 1M to 1G if not given")
      ->transform(bytes);
  app.add_option("--schedule", a.schedules, "Only these; else all that carry out the contract");
  app.add_option("--contract", a.contract, std::string(contract::kContractSyntax))->capture_default_str();
  app.add_option("--chunk", a.chunks, "Chunks to try, the best counts; the engine's if not given")
      ->transform(bytes);
  app.add_option("--scratch", a.scratch, "Scratch of a communicator; 64M if not given")->transform(bytes);
  app.add_option("--lanes", a.lanes, "Communicators that share a call's chunks (DETCCL_LANES)")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--most-messages", a.most_messages, "Of one simulation; beyond it closed forms")
      ->capture_default_str();
  app.add_option("--step", a.step, "JSON file that describes a training step")->check(CLI::ExistingFile);
  app.add_option("--validate", a.validate, "Instead: compare with these files of measured times")
      ->check(CLI::ExistingFile);
  app.add_option("--json", a.json, "Write JSON to this file, - for stdout");
  app.add_option("--html", a.html, "Write a page to this file, - for stdout");
  app.footer(
      "Everything printed is predicted, not measured. Exit status: 0; 1 if a simulation fails; 2 for bad "
      "usage.");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Predict the time of plans on machines of thousands of GPUs", "detccl simulate");
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    run(arguments);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::invalid_argument& e) {
    std::cerr << "detccl simulate: " << e.what() << '\n';
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "detccl simulate: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
