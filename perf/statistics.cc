// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <cmath>

namespace detccl::perf {
namespace {

/// The k for which the k-th smallest and k-th largest (from 0) of n values enclose the median with a
/// probability of at least 95 %: values fall on either side of it as coins do.
std::size_t interval_end(std::size_t n) {
  const double count = static_cast<double>(n);
  double below = 0.0;  // probability that at most k of n lie below
  std::size_t k = 0;
  for (; k < n / 2; ++k) {
    const double i = static_cast<double>(k);
    below += std::exp(std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) -
                      count * std::log(2.0));
    if (2.0 * below > 0.05) break;
  }
  return k > 0 ? k - 1 : 0;
}

}  // namespace

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), middle = n / 2, end = interval_end(n);
  const double median = n % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back(), values[end], values[n - 1 - end]};
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    result.push_back(a[i] / b[i]);
  return result;
}

}  // namespace detccl::perf
