// SPDX-License-Identifier: Apache-2.0
// Coefficients from measured times.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plan/tuner/cost.h"

namespace detccl::plan::tuner {

struct Sample {
  Question question;
  Schedule schedule;
  double chunk = 0;    ///< payload bytes, as for predict()
  double seconds = 0;  ///< measured
};

/// Positive numbers that make `error` small: a pattern search on their logarithms from `start`.
std::vector<double> search(std::vector<double> start,
                           const std::function<double(std::span<const double>)>& error);

/// What makes the sum of squares of log(predicted / measured) small, beginning with `start`, from which what
/// the samples do not tell hardly moves. Links between groups are fitted where there are samples over
/// several, else they stay as much slower than those within as they are in `start`; overlap and processors
/// stay.
Coefficients fit(std::span<const Sample> samples, const Coefficients& start);

/// predicted / measured - 1
double error(const Sample& sample, const Coefficients& c);

}  // namespace detccl::plan::tuner
