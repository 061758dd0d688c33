// SPDX-License-Identifier: Apache-2.0
#include "cli/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/report_chart.h"
#include "cli/report_groups.h"

namespace detccl::cli {
namespace {

constexpr const char* kHead = R"page(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>@TITLE@</title>
<style>
  :root { --page: #fff; --text: #1d2530; --dim: #5b6573; --line: #dfe3e9; --bad: #c8324a; --mark: #1d2530;
          --c0: #2f6fc4; --c1: #d2691e; --c2: #2a8f5c; --c3: #a23ea8; --c4: #b8860b;
          --c5: #0e8f9c; --c6: #c8324a; --c7: #6a5acd; --c8: #6b7a1f; --c9: #7a5240; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #14181e; --text: #e4e8ee; --dim: #a0aab8; --line: #323a45; --bad: #ff6178; --mark: #e4e8ee;
            --c0: #6ea8f7; --c1: #f29b5c; --c2: #5fcf95; --c3: #dc8be0; --c4: #e0b84a;
            --c5: #55cbd6; --c6: #ff7f92; --c7: #a79cf5; --c8: #b9c95c; --c9: #c79a84; } }
  body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem; background: var(--page); color: var(--text);
         font: 15px/1.5 system-ui, sans-serif; }
  h1 { font-size: 1.5rem; margin: 0 0 .4rem; }
  h2 { font-size: 1.1rem; margin: 2.2rem 0 0; }
  p { margin: .2rem 0; max-width: 60rem; }
  .dim, th { color: var(--dim); font-weight: normal; }
  .charts { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
  .charts svg { flex: 1 1 30rem; min-width: 0; max-width: 46rem; }
  .keys { margin: .3rem 0; }
  .key { display: inline-block; margin-right: 1.4rem; }
  .key svg { width: 30px; height: 10px; margin-right: .4rem; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; margin-top: .6rem; font-size: 13px; font-variant-numeric: tabular-nums; }
  th, td { text-align: left; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid var(--line);
           vertical-align: top; white-space: nowrap; }
  td.name { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
  td.n, th.n { text-align: right; }
  .bad { color: var(--bad); font-weight: 600; }
  svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
  svg .title { font-size: 13.5px; font-weight: 600; }
  svg .tick, svg .axis { fill: var(--dim); }
  svg .mid { text-anchor: middle; }
  svg .end { text-anchor: end; }
  .grid { stroke: var(--line); }
  .mark { stroke: var(--mark); stroke-dasharray: 2 3; }
  .line { fill: none; stroke: currentColor; stroke-width: 1.8; }
  .dashed { stroke-dasharray: 5 4; stroke-width: 1.3; }
  .band { fill: currentColor; opacity: .16; }
  .dot { fill: currentColor; }
  .ring { fill: var(--page); stroke: currentColor; }
@COLOURS@  @media print { h2 { break-after: avoid; } .charts { break-inside: avoid; } .wide { overflow: visible; } }
</style>
<h1>@TITLE@</h1>
)page";

std::string cell(std::string_view text, const char* kind = "") {
  return fmt::format("<td{}>{}</td>", kind, escaped(text));
}

std::string figure(std::optional<double> value, int decimals) {
  return fmt::format("<td class=\"n\">{}</td>", value ? fmt::format("{:.{}f}", *value, decimals) : "");
}

std::string head_of_table(std::string_view names, std::string_view figures) {
  std::string out = "<div class=\"wide\"><table>\n<thead><tr>";
  const auto add = [&](std::string_view list, const char* kind) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find('|'), list.size());
      out += fmt::format("<th{}>{}</th>", kind, list.substr(0, end));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  };
  add(names, "");
  add(figures, " class=\"n\"");
  return out + "</tr></thead>\n<tbody>\n";
}

std::string replaced(std::string text, std::string_view mark, const std::string& by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
  return text;
}

std::string head_of_page(const std::string& title) {
  std::string colours;
  for (std::size_t i = 0; i < kChartColours; ++i)
    colours += fmt::format("  .c{} {{ color: var(--c{}); }}\n", i, i);
  return replaced(replaced(kHead, "@COLOURS@", colours), "@TITLE@", escaped(title));
}

std::string summary(const Results& results) {
  std::size_t rows = 0, wrong = 0, unchecked = 0;
  for (const Sweep& sweep : results.sweeps) {
    rows += sweep.rows.size();
    for (const SweepRow& row : sweep.rows) {
      wrong += row.bits == "WRONG" ? 1U : 0U;
      unchecked += row.bits == "unchecked" ? 1U : 0U;
    }
  }
  std::string out = fmt::format("<p>{} rows", rows);
  if (wrong > 0)
    out += fmt::format(", <span class=\"bad\">the bits of {} are not the contract's</span>", wrong);
  if (unchecked > 0) out += fmt::format(", the bits of {} were not checked", unchecked);
  if (wrong + unchecked == 0) out += ", all with the contract's bits";
  if (!results.not_measured.empty())
    out +=
        fmt::format("; <a class=\"bad\" href=\"#failures\">{} not measured</a>", results.not_measured.size());
  return out +
         ".</p>\n<p class=\"dim\">Overhead is the time of DetCCL over that of its peer, measured in one run; "
         "above 1 "
         "DetCCL is slower. Lines are medians over rounds, bands the 95 % interval of the median (in results "
         "of format "
         "1, and with fewer than 6 rounds, the smallest and the largest). busbw: bytes / time, times the "
         "factor of nccl-tests. Figures show "
         "where the "
         "pointer rests on a point.</p>\n";
}

/// A line for all sweeps of a file that share everything but the collective.
std::string sources(const Results& results) {
  std::vector<std::pair<std::string, std::string>> lines;  // what is the same, and the first date
  std::map<std::string, std::size_t> rows;
  for (const Sweep& s : results.sweeps) {
    const std::string same =
        cell(s.file, " class=\"name\"") + cell(s.commit) + cell(s.where, " class=\"name\"") + cell(s.driver) +
        cell(s.versions, " class=\"name\"") + cell(s.contract) + cell(s.peer.empty() ? "none" : s.peer) +
        cell(std::to_string(s.ranks), " class=\"n\"");
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const auto& known) { return known.first == same; });
    if (line == lines.end())
      lines.emplace_back(same, s.date);
    else
      line->second = std::min(line->second, s.date);
    rows[same] += s.rows.size();
  }
  std::string out = head_of_table("file|commit|where|driver|versions|contract|peer", "ranks|rows");
  out = replaced(out, "<th>file</th>", "<th>date</th><th>file</th>");
  for (const auto& [same, date] : lines)
    out +=
        fmt::format("<tr>{}{}{}</tr>\n", cell(date), same, cell(std::to_string(rows[same]), " class=\"n\""));
  return out + "</tbody></table></div>\n";
}

/// The same label has the same colour on the whole page.
class Colours {
 public:
  std::size_t of(const std::string& label) {
    return known_.emplace(label, known_.size()).first->second % kChartColours;
  }

 private:
  std::map<std::string, std::size_t> known_;
};

std::string key(std::size_t colour, const char* kind, const std::string& label) {
  return fmt::format(
      "<span class=\"key\"><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\"><line class=\"line{} c{}\" "
      "x1=\"0\" x2=\"30\" y1=\"5\" y2=\"5\"/></svg>{}</span>\n",
      kind, colour, escaped(label));
}

Chart overhead_chart(const Group& group, Colours& colours) {
  Chart chart = {.title = "Overhead against message size",
                 .values = "time of DetCCL / " + group.peer,
                 .mark = 1.0,
                 .series = {}};
  for (const GroupSeries& series : group.series) {
    ChartSeries line = {.colour = colours.of(series.label), .dashed = false, .points = {}};
    for (const SweepRow& row : series.rows) {
      if (!row.ratio) continue;
      line.points.push_back({.bytes = static_cast<double>(row.bytes),
                             .value = row.ratio->median,
                             .low = row.ratio->low,
                             .high = row.ratio->high,
                             .tip = fmt::format("{}, {}: {:.3f} ({:.3f} to {:.3f})", series.label,
                                                size_name(static_cast<double>(row.bytes)), row.ratio->median,
                                                row.ratio->low, row.ratio->high)});
    }
    chart.series.push_back(std::move(line));
  }
  return chart;
}

ChartSeries busbw_line(const GroupSeries& series, std::size_t colour, const std::string& peer) {
  ChartSeries line = {.colour = colour, .dashed = !peer.empty(), .points = {}};
  for (const SweepRow& row : series.rows) {
    const std::optional<double> value = peer.empty() ? row.busbw : row.peer_busbw;
    if (!value) continue;
    line.points.push_back(
        {.bytes = static_cast<double>(row.bytes),
         .value = *value,
         .low = *value,
         .high = *value,
         .tip = fmt::format("{}{}, {}: {:.3f} GB/s", peer.empty() ? "" : peer + " beside ", series.label,
                            size_name(static_cast<double>(row.bytes)), *value)});
  }
  return line;
}

Chart busbw_chart(const Group& group, Colours& colours) {
  Chart chart = {.title = "Bus bandwidth", .values = "busbw in GB/s", .mark = {}, .series = {}};
  for (const GroupSeries& series : group.series) {
    const std::size_t colour = colours.of(series.label);
    if (!group.peer.empty()) chart.series.push_back(busbw_line(series, colour, group.peer));
    chart.series.push_back(busbw_line(series, colour, ""));
  }
  return chart;
}

std::string charts(const Group& group, Colours& colours) {
  std::string out = fmt::format("<h2>{}</h2>\n<p class=\"dim\">{}</p>\n<p class=\"keys\">\n",
                                escaped(group.heading), escaped(group.setting));
  for (const GroupSeries& series : group.series)
    out += key(colours.of(series.label), "", series.label);
  if (!group.peer.empty())
    out += key(colours.of(group.series.front().label), " dashed", group.peer + " in the same run (busbw)");
  out += "</p>\n<div class=\"charts\">\n";
  if (!group.peer.empty()) out += svg(overhead_chart(group, colours));
  return out + svg(busbw_chart(group, colours)) + "</div>\n";
}

std::string table(const Results& results) {
  std::string out = "<h2>All rows</h2>\n" +
                    head_of_table("collective|where|type|op|schedule|settings|bits",
                                  "ranks|bytes|rounds|peer (us)|DetCCL (us)|ratio|low|high|peer busbw (GB/s)|"
                                  "DetCCL busbw (GB/s)");
  for (const Sweep& s : results.sweeps) {
    for (const SweepRow& r : s.rows) {
      const Interval ratio = r.ratio.value_or(Interval{});
      const auto of_ratio = [&](double value) {
        return figure(r.ratio ? std::optional(value) : std::nullopt, 3);
      };
      out += "<tr>" + cell(s.collective) + cell(s.where, " class=\"name\"") + cell(r.datatype) + cell(r.op) +
             cell(r.schedule) + cell(s.settings, s.settings.empty() ? "" : " class=\"name\"") +
             cell(r.bits, r.bits == "WRONG" ? " class=\"bad\"" : "") +
             figure(static_cast<double>(s.ranks), 0) + figure(static_cast<double>(r.bytes), 0) +
             figure(static_cast<double>(r.rounds), 0) +
             figure(r.peer_time_us ? std::optional(r.peer_time_us->median) : std::nullopt, 1) +
             figure(r.time_us.median, 1) + of_ratio(ratio.median) + of_ratio(ratio.low) +
             of_ratio(ratio.high) + figure(r.peer_busbw, 3) + figure(r.busbw, 3) + "</tr>\n";
    }
  }
  return out + "</tbody></table></div>\n";
}

std::string failures(const Results& results) {
  if (results.not_measured.empty()) return "";
  std::string out = "<h2 id=\"failures\">Not measured</h2>\n<ul>\n";
  for (const std::string& line : results.not_measured)
    out += fmt::format("<li>{}</li>\n", escaped(line));
  return out + "</ul>\n";
}

}  // namespace

std::string report_page(const Results& results, const std::string& title) {
  std::string page = head_of_page(title) + summary(results) + sources(results);
  Colours colours;
  for (const Group& group : groups_of(results.sweeps))
    page += charts(group, colours);
  return page + failures(results) + table(results) + "</html>\n";
}

}  // namespace detccl::cli
