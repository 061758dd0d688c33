// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/trace_fields.h"

namespace detccl::cli {
namespace {

using nlohmann::json;
using trace::Candidate;
using trace::Difference;
using trace::Finding;
using trace::Record;
using trace::RunDiff;

constexpr std::size_t kShown = 10;  // in text; JSON has all

trace::Tables tables_of(const Candidate& c) {
  trace::Tables tables;
  if (c.communicator) tables.communicators.push_back(*c.communicator);
  tables.strings.push_back(c.phase);
  return tables;
}

std::string call_text(const Record& r) {
  std::string text = fmt::format("{} of {} {}", trace::kind_name(static_cast<std::uint8_t>(r.kind)), r.count,
                                 trace::type_name(r.type));
  if (r.op != trace::kNone) text += ", " + trace::op_name(r.op);
  if (r.peer != trace::kNoPeer) {
    text +=
        fmt::format(", {} {}", trace::is_p2p(static_cast<std::uint8_t>(r.kind)) ? "peer" : "root", r.peer);
  }
  return text;
}

std::string place_text(const Candidate& c) {
  const std::string step =
      c.step() == trace::kNoStep ? "before the first step" : fmt::format("step {}", c.step());
  return c.phase.empty() ? step : step + ", " + printable(c.phase);
}

std::string ranges_text(const Candidate& c) {
  std::string text;
  const std::size_t shown = std::min<std::size_t>(c.ranges.size(), 4);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{}-{}", i == 0 ? "" : ", ", c.ranges[i].begin, c.ranges[i].end);
  }
  if (shown < c.ranges.size()) text += fmt::format(" and {} more ranges", c.ranges.size() - shown);
  return text;
}

std::string digests_text(const Candidate& c) {
  if (!c.a || !c.b ||
      (c.difference != Difference::inputs_differ && c.difference != Difference::outputs_differ)) {
    return "";
  }
  const bool input = c.difference == Difference::inputs_differ;
  const Record &a = c.a->record, &b = c.b->record;
  return fmt::format("    A {}\n    B {}\n", trace::to_hex(input ? a.input : a.output),
                     trace::to_hex(input ? b.input : b.output));
}

std::string finding_text(const Finding& f) {
  const Candidate& c = f.candidate;
  std::string text = fmt::format("  rank {}, {}: {} (record {})\n    {}\n", c.rank, place_text(c),
                                 operation_text(c), c.operation().sequence, difference_text(c));
  text += digests_text(c);
  if (!c.ranges.empty()) text += "    bytes " + ranges_text(c) + "\n";
  return text;
}

std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  if (ranks.size() > kShown) text += fmt::format(" … ({} in all)", ranks.size());
  return text;
}

}  // namespace

std::vector<std::string> diff_notes(const RunDiff& diff) {
  std::map<std::string, std::vector<std::uint32_t>> by_note;
  for (const trace::RankDiff& rank : diff.ranks) {
    for (const std::string& note : rank.notes) {
      by_note[note].push_back(rank.rank);
    }
    if (!rank.unusable.empty()) by_note["not compared: " + rank.unusable].push_back(rank.rank);
  }
  if (!diff.only_a.empty()) by_note["traced in A only"] = diff.only_a;
  if (!diff.only_b.empty()) by_note["traced in B only"] = diff.only_b;
  std::vector<std::string> notes;
  for (const auto& [note, ranks] : by_note) {
    notes.push_back(fmt::format("rank {}: {}", ranks_text(ranks), printable(note)));
  }
  return notes;
}

namespace {

std::string findings_text(const RunDiff& diff) {
  const auto causes = static_cast<std::size_t>(std::count_if(diff.findings.begin(), diff.findings.end(),
                                                             [](const Finding& f) { return f.is_cause(); }));
  const std::size_t consequences = diff.findings.size() - causes;
  std::string text = fmt::format("{} of {} ranks differ. Possible causes, on {} ranks:\n",
                                 diff.findings.size(), diff.ranks.size(), causes);
  for (std::size_t i = 0; i < std::min(causes, kShown); ++i) {
    text += finding_text(diff.findings[i]);
  }
  if (causes > kShown) text += fmt::format("  … and {} more\n", causes - kShown);
  if (consequences == 0) return text;
  text += fmt::format("Consequences, on {} ranks: data of a rank that differs goes into the operation:\n",
                      consequences);
  for (std::size_t i = causes; i < std::min(diff.findings.size(), causes + kShown); ++i) {
    const Candidate& c = diff.findings[i].candidate;
    text += fmt::format("  rank {}, {}: {}, after rank {}\n", c.rank, place_text(c), operation_text(c),
                        diff.findings[i].follows.value_or(0));
  }
  if (consequences > kShown) text += fmt::format("  … and {} more\n", consequences - kShown);
  return text;
}

json record_json(const std::optional<trace::RankRecord>& r, const trace::Tables& tables) {
  if (!r) return {};
  Record record = r->record;
  json fields = fields_of(record, tables);
  fields.erase("phase");  // numbered otherwise in B; the finding has it
  return fields;
}

json finding_json(const Finding& f) {
  const Candidate& c = f.candidate;
  const trace::Tables tables = tables_of(c);
  json out = {{"rank", c.rank},
              {"class", trace::difference_name(c.difference)},
              {"cause", f.is_cause()},
              {"phase", printable(c.phase)},
              {"operation", operation_text(c)},
              {"text", difference_text(c)},
              {"a", record_json(c.a, tables)},
              {"b", record_json(c.b, tables)}};
  out["step"] = c.step() == trace::kNoStep ? json() : json(c.step());
  out["follows_rank"] = f.follows ? json(*f.follows) : json();
  out["bytes"] = json::array();
  for (const trace::ByteRange& range : c.ranges) {
    out["bytes"].push_back({range.begin, range.end});
  }
  return out;
}

}  // namespace

std::string operation_text(const Candidate& c) {
  const trace::Tables tables = tables_of(c);
  const Record& r = c.operation();
  return fmt::format("{} {} on {}", profiling_name(r, tables).substr(5), r.communicator_sequence,
                     group_name(r, tables));
}

std::string difference_text(const Candidate& c) {
  switch (c.difference) {
    case Difference::inputs_differ:
      return "inputs differ: " + call_text(c.operation());
    case Difference::outputs_differ:
      return "same inputs, outputs differ: " + call_text(c.operation());
    case Difference::missing:
      return (c.after_end ? "B has ended: " : "B does not have it: ") + call_text(c.operation());
    case Difference::extra:
      return (c.after_end ? "A has ended: " : "A does not have it: ") + call_text(c.operation());
    case Difference::reordered:
      return "in another order: A has " + call_text(c.a->record) + "; B has " + call_text(c.b->record);
    case Difference::mismatch:
      return "another call: A has " + call_text(c.a->record) + "; B has " + call_text(c.b->record);
  }
  return "";
}

std::string diff_text(const RunDiff& diff) {
  std::string text;
  switch (diff.verdict) {
    case trace::Verdict::same:
      text = fmt::format("same: {} operations of {} ranks\n", diff.operations, diff.ranks.size());
      break;
    case trace::Verdict::different:
      text = findings_text(diff);
      break;
    case trace::Verdict::unusable:
      text = "cannot tell: " + printable(diff.reason) + "\n";
      break;
  }
  for (const std::string& note : diff_notes(diff)) {
    text += "note: " + note + "\n";
  }
  return text;
}

std::string diff_json(const RunDiff& diff) {
  constexpr const char* kVerdicts[] = {"same", "different", "unusable"};
  json out = {{"verdict", kVerdicts[static_cast<int>(diff.verdict)]},
              {"ranks", diff.ranks.size()},
              {"operations", diff.operations},
              {"only_a", diff.only_a},
              {"only_b", diff.only_b},
              {"findings", json::array()},
              {"notes", json::array()}};
  if (!diff.reason.empty()) out["reason"] = diff.reason;
  for (const Finding& f : diff.findings) {
    out["findings"].push_back(finding_json(f));
  }
  for (const trace::RankDiff& rank : diff.ranks) {
    for (const std::string& note : rank.notes) {
      out["notes"].push_back({{"rank", rank.rank}, {"text", note}});
    }
    if (!rank.unusable.empty()) out["notes"].push_back({{"rank", rank.rank}, {"text", rank.unusable}});
  }
  return dump(out);
}

}  // namespace detccl::cli
