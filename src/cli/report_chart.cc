// SPDX-License-Identifier: Apache-2.0
#include "cli/report_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace detccl::cli {
namespace {

// In the units of the SVG's view box.
constexpr double kWidth = 560, kHeight = 330;
constexpr double kLeft = 62, kRight = 18, kTop = 34, kBottom = 52;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr double kLogarithmicFrom = 20;
constexpr std::size_t kMostSizeTicks = 8;

struct Axis {
  bool logarithmic = false;
  double first = 0, last = 1;
  std::vector<double> ticks;

  /// 0 … 1 along the axis.
  double at(double value) const {
    if (!logarithmic) return (value - first) / (last - first);
    return std::log(value / first) / std::log(last / first);
  }
};

double x_of(const Axis& sizes, double bytes) {
  return kLeft + kPlotWidth * sizes.at(bytes);
}

double y_of(const Axis& values, double value) {
  return kTop + kPlotHeight * (1 - values.at(value));
}

/// 1, 2 or 5 times a power of ten, at least `step`.
double nice_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step * 0.999) return factor * power;
  return 10 * power;
}

Axis linear_axis(double largest) {
  const double step = nice_step(largest / 6);
  Axis axis = {
      .logarithmic = false, .first = 0, .last = std::ceil(largest / step - 1e-9) * step, .ticks = {}};
  for (int i = 0; i * step <= axis.last * 1.001; ++i)
    axis.ticks.push_back(i * step);
  return axis;
}

Axis logarithmic_axis(double smallest, double largest) {
  Axis axis = {.logarithmic = true, .first = smallest / 1.2, .last = largest * 1.2, .ticks = {}};
  const bool decades = axis.last / axis.first > 5e3;
  for (double power = std::pow(10, std::floor(std::log10(axis.first))); power <= axis.last; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if (factor * power >= axis.first && factor * power <= axis.last && (factor == 1.0 || !decades))
        axis.ticks.push_back(factor * power);
  return axis;
}

/// Sizes that were measured, or powers of two between them where these are too many.
Axis size_axis(std::vector<double> sizes) {
  std::sort(sizes.begin(), sizes.end());
  Axis axis = {.logarithmic = true, .first = sizes.front(), .last = sizes.back(), .ticks = {}};
  const double octaves = std::max(0.0, std::log2(axis.last / axis.first));
  const double stride = std::max(1.0, std::ceil(octaves / static_cast<double>(kMostSizeTicks - 1)));
  for (double power = std::floor(std::log2(axis.first)); power <= std::log2(axis.last) + 1e-9;
       power += stride)
    if (std::exp2(power) >= axis.first) axis.ticks.push_back(std::exp2(power));
  if (axis.ticks.empty()) axis.ticks = {axis.first};
  // Points stay clear of the frame, and a single size has an axis.
  const double margin = std::exp2(std::max(0.3, octaves * 0.03));
  axis.first /= margin;
  axis.last *= margin;
  return axis;
}

std::string frame(const Chart& chart, const Axis& sizes, const Axis& values) {
  std::string out;
  for (const double tick : values.ticks) {
    const double y = y_of(values, tick);
    out += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       kLeft, kWidth - kRight, y, y);
    out += fmt::format("<text class=\"tick end\" x=\"{:.1f}\" y=\"{:.1f}\">{:.6g}</text>\n", kLeft - 7, y + 4,
                       tick);
  }
  for (const double tick : sizes.ticks) {
    const double x = x_of(sizes, tick);
    out += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", x, x,
                       kTop, kTop + kPlotHeight);
    out += fmt::format("<text class=\"tick mid\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x,
                       kTop + kPlotHeight + 17, size_name(tick));
  }
  if (chart.mark && y_of(values, *chart.mark) >= kTop)
    out += fmt::format("<line class=\"mark\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                       kLeft, kWidth - kRight, y_of(values, *chart.mark), y_of(values, *chart.mark));
  out += fmt::format("<text class=\"title\" x=\"{:.1f}\" y=\"18\">{}</text>\n", kLeft, escaped(chart.title));
  out += fmt::format("<text class=\"axis mid\" x=\"{:.1f}\" y=\"{:.1f}\">message size</text>\n",
                     kLeft + kPlotWidth / 2, kHeight - 10);
  out += fmt::format("<text class=\"axis mid\" transform=\"translate(16 {:.1f}) rotate(-90)\">{}{}</text>\n",
                     kTop + kPlotHeight / 2, escaped(chart.values), values.logarithmic ? ", log scale" : "");
  return out;
}

std::string band(const ChartSeries& series, const Axis& sizes, const Axis& values) {
  const bool has_spread = std::any_of(series.points.begin(), series.points.end(),
                                      [](const ChartPoint& p) { return p.low < p.high; });
  if (!has_spread) return "";
  const auto point = [&](double bytes, double value) {
    return fmt::format("{:.1f},{:.1f} ", x_of(sizes, bytes), y_of(values, value));
  };
  if (series.points.size() == 1) {
    const ChartPoint& p = series.points.front();
    const double x = x_of(sizes, p.bytes);
    return fmt::format("<line class=\"line c{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                       series.colour, x, x, y_of(values, p.low), y_of(values, p.high));
  }
  std::string points;
  for (const ChartPoint& p : series.points)
    points += point(p.bytes, p.high);
  for (auto p = series.points.rbegin(); p != series.points.rend(); ++p)
    points += point(p->bytes, p->low);
  return fmt::format("<polygon class=\"band c{}\" points=\"{}\"/>\n", series.colour, points);
}

std::string line(const ChartSeries& series, const Axis& sizes, const Axis& values) {
  std::string points, dots;
  for (const ChartPoint& p : series.points) {
    const double x = x_of(sizes, p.bytes), y = y_of(values, p.value);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    dots += fmt::format(
        "<circle class=\"{} c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"><title>{}</title></circle>\n",
        series.dashed ? "ring" : "dot", series.colour, x, y, escaped(p.tip));
  }
  return fmt::format("<polyline class=\"line{} c{}\" points=\"{}\"/>\n{}", series.dashed ? " dashed" : "",
                     series.colour, points, dots);
}

}  // namespace

std::string svg(const Chart& chart) {
  double smallest = INFINITY, largest = chart.mark.value_or(0);
  std::vector<double> all_sizes;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& p : series.points) {
      smallest = std::min(smallest, p.low);
      largest = std::max(largest, p.high);
      all_sizes.push_back(p.bytes);
    }
  }
  if (all_sizes.empty()) return "";
  const bool logarithmic = smallest > 0 && largest / smallest > kLogarithmicFrom;
  const Axis values =
      logarithmic ? logarithmic_axis(smallest, largest) : linear_axis(largest > 0 ? largest : 1);
  const Axis sizes = size_axis(std::move(all_sizes));
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                                kHeight, escaped(chart.title));
  out += frame(chart, sizes, values);
  for (const ChartSeries& series : chart.series)
    out += band(series, sizes, values);
  for (const ChartSeries& series : chart.series)
    if (!series.points.empty()) out += line(series, sizes, values);
  return out + "</svg>\n";
}

std::string size_name(double bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024.0, "KiB"}};
  for (const auto& [unit, name] : kUnits)
    if (bytes >= unit) return fmt::format("{:.4g} {}", bytes / unit, name);
  return fmt::format("{:.4g} B", bytes);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace detccl::cli
