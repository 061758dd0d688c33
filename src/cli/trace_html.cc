// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_html.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "cli/trace_diff.h"
#include "cli/trace_fields.h"
#include "cli/trace_page.h"

namespace detccl::cli {
namespace {

using nlohmann::ordered_json;
using trace::RunDiff;

constexpr std::size_t kFindings = 200;  // in the table

// Before the first step sorts first.
std::int64_t step_number(std::uint32_t step) {
  return step == trace::kNoStep ? -1 : std::int64_t{step};
}

std::vector<std::int64_t> all_steps(const RunDiff& diff) {
  std::set<std::int64_t> steps;
  for (const trace::RankDiff& rank : diff.ranks) {
    for (const trace::StepAgreement& s : rank.steps) {
      steps.insert(steps.end(), step_number(s.step));
    }
  }
  return {steps.begin(), steps.end()};
}

/// A rank's row: [length, state, length, state …], the state an Agreement or 4 where there is nothing.
ordered_json row(const trace::RankDiff& rank, const std::vector<std::int64_t>& steps) {
  auto runs = ordered_json::array();
  std::map<std::int64_t, int> states;
  for (const trace::StepAgreement& s : rank.steps) {
    states[step_number(s.step)] = static_cast<int>(s.agreement);
  }
  int current = -1;
  std::uint64_t length = 0;
  for (const std::int64_t step : steps) {
    const auto found = states.find(step);
    const int state = found == states.end() ? 4 : found->second;
    if (state != current && length != 0) {
      runs.push_back(length);
      runs.push_back(current);
      length = 0;
    }
    current = state;
    ++length;
  }
  if (length != 0) {
    runs.push_back(length);
    runs.push_back(current);
  }
  return runs;
}

ordered_json data_of(const RunDiff& diff, const std::string& a, const std::string& b) {
  ordered_json data = {{"a", a}, {"b", b}, {"operations", diff.operations}, {"reason", diff.reason}};
  data["verdict"] = static_cast<int>(diff.verdict);
  const std::vector<std::int64_t> steps = all_steps(diff);
  data["steps"] = steps;
  data["ranks"] = ordered_json::array();
  data["rows"] = ordered_json::array();
  for (const trace::RankDiff& rank : diff.ranks) {
    data["ranks"].push_back(rank.rank);
    data["rows"].push_back(row(rank, steps));
  }
  data["total"] = diff.findings.size();
  data["causes"] = 0;
  data["findings"] = ordered_json::array();
  std::uint64_t causes = 0;
  for (const trace::Finding& f : diff.findings) {
    if (f.is_cause()) ++causes;
    if (data["findings"].size() >= kFindings) continue;
    const trace::Candidate& c = f.candidate;
    ordered_json entry = {{"rank", c.rank},
                          {"step", step_number(c.step())},
                          {"phase", printable(c.phase)},
                          {"operation", operation_text(c)},
                          {"text", difference_text(c)}};
    entry["follows"] = f.follows ? ordered_json(*f.follows) : ordered_json();
    data["findings"].push_back(std::move(entry));
  }
  data["causes"] = causes;
  data["notes"] = ordered_json(diff_notes(diff));
  return data;
}

/// So that no text in it can end the script element.
std::string in_script(std::string text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string diff_html(const RunDiff& diff, const std::string& a, const std::string& b) {
  std::string page(kTracePage);
  constexpr std::string_view kMark = "@DATA@";
  return page.replace(page.find(kMark), kMark.size(), in_script(dump_line(data_of(diff, a, b))));
}

}  // namespace detccl::cli
