// SPDX-License-Identifier: Apache-2.0
// What is said of repeated measurements.
#pragma once

#include <vector>

namespace detccl::perf {

struct Spread {
  double min = 0.0, median = 0.0, max = 0.0;
  /// A 95 % confidence interval of the median by order statistics, which assumes nothing of the distribution.
  /// Below 6 values there is none, and these are the smallest and the largest.
  double low = 0.0, high = 0.0;
};

/// Of at least one value.
Spread spread(std::vector<double> values);

/// a[i] / b[i].
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace detccl::perf
