// SPDX-License-Identifier: Apache-2.0
// Predictions against measured times: two parameters are fitted to every other point, the rest says how good
// the model is. The measured machines are single ones, so everything crosses one link.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulate/measured.h"
#include "simulate/platform.h"

namespace detccl::simulate {

struct ValidatedPoint {
  std::string series;
  std::uint64_t bytes = 0;
  double measured = 0, predicted = 0;  ///< seconds
  bool fitted = false;
  double error() const { return predicted / measured - 1; }
};

struct Fit {
  std::string what;  ///< "deterministic" or "native"
  std::uint32_t ranks = 0;
  double group = 0;      ///< seconds that a group of transfers takes apart from its bytes
  double bandwidth = 0;  ///< of the link, all ranks together
  std::vector<ValidatedPoint> points;
};

struct Validation {
  std::string file;
  std::vector<Fit> fits;
};

Validation validate(const std::string& file, const std::string& json, std::uint64_t chunk);

/// The machine that fits are made on.
Platform bus_platform(std::uint32_t ranks, bool host, double group, double bandwidth);

/// Positive arguments that make `error` small: a pattern search on their logarithms from `start`.
std::pair<double, double> fit(std::pair<double, double> start,
                              const std::function<double(double, double)>& error);

/// Median and largest |error| of points that were fitted, or not.
struct Errors {
  std::size_t points = 0;
  double median = 0, most = 0;
};
Errors errors(const std::vector<ValidatedPoint>& points, bool fitted);

std::string validation_text(const std::vector<Validation>& all);
std::string validation_json(const std::vector<Validation>& all);

}  // namespace detccl::simulate
