// SPDX-License-Identifier: Apache-2.0
// A line chart over message sizes, as an SVG element to be put into a page; the page has the styles.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace detccl::cli {

struct ChartPoint {
  double bytes = 0, value = 0;
  double low = 0, high = 0;  ///< of the band; both `value` where there is none
  std::string tip;           ///< what is shown when the pointer is on it
};

struct ChartSeries {
  std::size_t colour = 0;
  bool dashed = false;
  std::vector<ChartPoint> points;  ///< by size
};

struct Chart {
  std::string title;
  std::string values;          ///< what the values are, with their unit
  std::optional<double> mark;  ///< a line across, at a value to compare with
  std::vector<ChartSeries> series;
};

/// Sizes on a logarithmic axis; values too, if they span more than a factor of 20. Empty without a point.
std::string svg(const Chart& chart);

/// "1 KiB", "1.5 MiB", "777 B".
std::string size_name(double bytes);
/// With what HTML gives a meaning replaced.
std::string escaped(std::string_view text);

/// Colours 0 … kChartColours - 1 are the classes c0, c1 …
constexpr std::size_t kChartColours = 10;

}  // namespace detccl::cli
