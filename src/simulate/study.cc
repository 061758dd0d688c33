// SPDX-License-Identifier: Apache-2.0
#include "simulate/study.h"

namespace detccl::simulate {

Row study(const Case& c, const std::vector<plan::Schedule>& schedules, const Options& options,
          bool why_slower) {
  Row row;
  row.c = c;
  row.native = predict_native(c, options);
  row.best = schedules.size();
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    Ours ours;
    ours.prediction = predict(c, schedules[i], options, &ours.why);
    row.ours.push_back(std::move(ours));
    const auto& made = row.ours.back().prediction;
    const bool first = row.best == schedules.size();
    if (made && (first || made->seconds < row.ours[row.best].prediction->seconds)) row.best = i;
  }
  if (why_slower && row.any() && row.ratio() > 1)
    row.terms = terms(c, schedules[row.best], *row.ours[row.best].prediction, options);
  return row;
}

}  // namespace detccl::simulate
