// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/environment.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "plan/tuner/file.h"

namespace detccl::nccl_api {
namespace {

const Variable* find_variable(std::string_view name) {
  const auto all = Environment::variables();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& v) { return v.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Insertions, deletions and replacements that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// By distance, then by how far it begins alike.
std::string_view nearest_name(std::string_view name) {
  const auto rank = [name](const Variable& v) {
    const auto alike =
        std::mismatch(name.begin(), name.end(), v.name.begin(), v.name.end()).first - name.begin();
    return std::pair(edit_distance(name, v.name), -alike);
  };
  const auto all = Environment::variables();
  return std::min_element(all.begin(), all.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
      ->name;
}

std::string not_allowed(const Variable& variable, std::string_view value) {
  return fmt::format("{}='{}' is not allowed; allowed: {}", variable.name, value, variable.syntax);
}

}  // namespace

std::string Variable::option() const {
  std::string text = "--";
  for (const char c : name.substr(std::string_view("DETCCL_").size()))
    text += c == '_' ? '-' : static_cast<char>(c - 'A' + 'a');
  return text;
}

Environment Environment::read(const char* const* entries) {
  Environment environment;
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with("DETCCL_") || equals == std::string_view::npos) continue;
    environment.take(entry.substr(0, equals), entry.substr(equals + 1));
  }
  environment.check_combinations();
  environment.read_tuning();
  return environment;
}

void Environment::take(std::string_view name, std::string_view value) {
  const Variable* variable = find_variable(name);
  if (variable == nullptr) {
    problems_.push_back(
        fmt::format("{} is no variable of DetCCL; the nearest is {}", name, nearest_name(name)));
    return;
  }
  if (value.empty()) return;
  if (!variable->parse(value, configuration_)) problems_.push_back(not_allowed(*variable, value));
}

std::string schedule_name(const Configuration& c) {
  if (c.peer) return "peer";
  if (!c.schedule) return "auto";
  if (!c.rails) return plan::name(*c.schedule);
  const std::string group = c.schedule->group == 0 ? "" : fmt::format("/{}", c.schedule->group);
  return fmt::format("hier(peer,{}){}", plan::name(*c.rails), group);
}

void Environment::check_combinations() {
  const auto& contract = configuration_.contract;
  const auto& schedule = configuration_.schedule;
  if (problems_.empty() && configuration_.peer && contract.block != 0) {
    problems_.push_back(
        fmt::format("DETCCL_SCHEDULE=peer cannot carry out DETCCL_CONTRACT={}, which has blocks",
                    contract::to_string(contract)));
  }
  const bool peer = configuration_.peer || configuration_.rails;
  if (problems_.empty() && peer && configuration_.peer_blocks == 0u) {
    problems_.push_back(fmt::format("DETCCL_SCHEDULE={} needs blocks: DETCCL_PEER_BLOCKS=0 leaves them out",
                                    schedule_name(configuration_)));
  }
  if (!problems_.empty() || !schedule || plan::supports(*schedule, contract)) return;
  problems_.push_back(
      fmt::format("DETCCL_SCHEDULE={} cannot carry out DETCCL_CONTRACT={}; allowed: gather or direct with "
                  "any contract, ring with "
                  "linear, tree, halving and hier with tree",
                  schedule_name(configuration_), contract::to_string(contract)));
}

void Environment::read_tuning() {
  if (configuration_.tuning_file.empty()) return;
  try {
    configuration_.tuning =
        std::make_shared<const plan::tuner::Coefficients>(plan::tuner::read_file(configuration_.tuning_file));
  } catch (const std::invalid_argument& e) {
    problems_.push_back(fmt::format("DETCCL_TUNING={}", e.what()));
  }
}

std::optional<std::string> check_value(std::string_view name, std::string_view value) {
  const Variable* variable = find_variable(name);
  Configuration ignored;
  if (variable == nullptr || variable->parse(value, ignored)) return std::nullopt;
  return not_allowed(*variable, value);
}

}  // namespace detccl::nccl_api
