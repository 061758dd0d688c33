// SPDX-License-Identifier: Apache-2.0
// Predictions for many sizes and schedules, and of a training step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/predict.h"
#include "simulate/step.h"

namespace detccl::simulate {

/// By one schedule, or why there is none.
struct Ours {
  std::optional<Prediction> prediction;
  std::string why;
};

struct Row {
  Case c;
  Prediction native;
  std::vector<Ours> ours;      ///< by schedule
  std::size_t best = 0;        ///< of `ours`; ours.size() if there is none
  std::optional<Terms> terms;  ///< of the best, where it is slower than native

  bool any() const { return best < ours.size(); }
  double ratio() const { return ours[best].prediction->seconds / native.seconds; }
};

struct Study {
  Options options;
  std::vector<plan::Schedule> schedules;
  std::vector<Row> rows;
  std::optional<StepReport> step;
};

/// One row. With `why_slower`, the terms of a best schedule that is slower than native.
Row study(const Case& c, const std::vector<plan::Schedule>& schedules, const Options& options,
          bool why_slower);

}  // namespace detccl::simulate
