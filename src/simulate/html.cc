// SPDX-License-Identifier: Apache-2.0
// The page: a curve per schedule, and the text report below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulate/report.h"

namespace detccl::simulate {
namespace {

constexpr const char* kColours[] = {"#1b6ca8", "#c0392b", "#27802f", "#8e44ad",
                                    "#b9770e", "#117a65", "#5d6d7e"};
constexpr double kWidth = 560, kHeight = 300, kLeft = 60, kTop = 20;
constexpr double kMostRatio = 4, kLeastRatio = 0.5;

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

/// Both axes are logarithmic.
struct Axes {
  double least = 0, most = 1;  ///< log2 of the bytes

  double x(std::uint64_t bytes) const {
    const double at = std::log2(static_cast<double>(bytes));
    return kLeft + kWidth * (most > least ? (at - least) / (most - least) : 0.5);
  }
  static double y(double ratio) {
    const double at = std::log2(std::clamp(ratio, kLeastRatio, kMostRatio) / kLeastRatio);
    return kTop + kHeight * (1 - at / std::log2(kMostRatio / kLeastRatio));
  }
};

std::string grid(const Axes& axes) {
  std::string svg;
  for (const double ratio : {0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0})
    svg += fmt::format(
        "<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' stroke='{3}'/><text x='{4}' y='{5:.1f}' "
        "text-anchor='end'>{6}</text>\n",
        kLeft, kLeft + kWidth, Axes::y(ratio), ratio == 1.0 ? "#333" : "#ddd", kLeft - 6, Axes::y(ratio) + 4,
        ratio);
  for (double at = std::ceil(axes.least); at <= axes.most; at += 2)
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{:.4g}</text>\n",
                       axes.x(std::uint64_t{1} << static_cast<unsigned>(at)), kTop + kHeight + 16,
                       std::exp2(at - 20));
  return svg;
}

std::string curve(const std::vector<const Row*>& rows, std::size_t schedule, const std::string& label,
                  const Axes& axes) {
  const char* colour = kColours[schedule % std::size(kColours)];
  std::string points, dots;
  for (const Row* row : rows) {
    const auto& p = row->ours[schedule].prediction;
    if (!p) continue;
    const double ratio = p->seconds / row->native.seconds;
    points += fmt::format("{:.1f},{:.1f} ", axes.x(row->c.bytes), Axes::y(ratio));
    dots += fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}' stroke='{}'><title>{}: {:.3f} of native "
        "({:.1f} us, {})</title></circle>\n",
        axes.x(row->c.bytes), Axes::y(ratio), p->how == "simulated" ? colour : "#fff", colour, escape(p->by),
        ratio, p->seconds * 1e6, p->how);
  }
  return fmt::format(
      "<polyline fill='none' stroke='{0}' stroke-width='2' points='{1}'/>{2}"
      "<text x='{3}' y='{4}' fill='{0}'>{5}</text>\n",
      colour, points, dots, kLeft + kWidth + 12, kTop + 14 + 18 * static_cast<double>(schedule),
      escape(label));
}

std::string chart(const Study& s, const Case& kind) {
  std::vector<const Row*> rows;
  for (const Row& row : s.rows)
    if (row.c.collective == kind.collective && row.c.type == kind.type) rows.push_back(&row);
  Axes axes{64, 0};
  for (const Row* row : rows) {
    axes.least = std::min(axes.least, std::log2(static_cast<double>(row->c.bytes)));
    axes.most = std::max(axes.most, std::log2(static_cast<double>(row->c.bytes)));
  }
  std::string svg =
      fmt::format("<h2>{} {}: predicted time over native</h2>\n<svg width='{}' height='{}'>\n",
                  name(kind.collective), name(kind.type), kLeft + kWidth + 220, kTop + kHeight + 30);
  svg += grid(axes);
  for (std::size_t i = 0; i < s.schedules.size(); ++i)
    svg += curve(rows, i, std::string(name(s.schedules[i])), axes);
  return svg +
         "</svg>\n<p>Message in MB; beyond 0.5 and 4 drawn at the border; open dots: closed form.</p>\n";
}

/// Where native is quicker, and how much quicker the best schedule would be without one of its terms.
std::string terms_table(const Study& s) {
  std::string rows;
  for (const Row& row : s.rows) {
    if (!row.terms) continue;
    const double whole = row.ours[row.best].prediction->seconds;
    rows += fmt::format(
        "<tr><td>{} {}, {:g} MB</td><td>{:.2f}</td><td>{}</td><td>{:.0f} %</td><td>{:.0f} %</td><td>{:.0f} "
        "%</td><td>{:.0f} %</td></tr>\n",
        name(row.c.collective), name(row.c.type), static_cast<double>(row.c.bytes) / (1 << 20), row.ratio(),
        escape(row.ours[row.best].prediction->by), 100 * row.terms->launches / whole,
        100 * row.terms->latency / whole, 100 * row.terms->bandwidth / whole, 100 * row.terms->folds / whole);
  }
  if (rows.empty()) return "<p>No size is slower than native.</p>\n";
  return "<h2>Slower than native: what costs it</h2>\n<p>So much less the time would be without it, each "
         "alone.</p>\n"
         "<table><tr><th></th><th>over "
         "native</th><th>best</th><th>launches</th><th>latency</th><th>bytes</th>"
         "<th>folds</th></tr>\n" +
         rows + "</table>\n";
}

}  // namespace

std::string to_html(const Study& s) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>DetCCL: predicted</title>\n"
      "<style>body{{font:14px sans-serif;margin:2em}}text{{font:12px sans-serif}}"
      "pre{{font-size:12px;overflow-x:auto}}td,th{{padding:2px 10px;text-align:left}}</style>\n"
      "<h1>Predicted, not measured</h1>\n<p>{}</p>\n",
      escape(describe(s.options.platform)));
  std::vector<Case> kinds;
  for (const Row& row : s.rows) {
    const bool known = std::any_of(kinds.begin(), kinds.end(), [&row](const Case& c) {
      return c.collective == row.c.collective && c.type == row.c.type;
    });
    if (!known) kinds.push_back(row.c);
  }
  for (const Case& kind : kinds)
    page += chart(s, kind);
  if (!s.rows.empty()) page += terms_table(s);
  return page + "<h2>Table</h2>\n<pre>" + escape(to_text(s)) + "</pre>\n</html>\n";
}

}  // namespace detccl::simulate
