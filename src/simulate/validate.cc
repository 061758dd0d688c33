// SPDX-License-Identifier: Apache-2.0
#include "simulate/validate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "simulate/closed_forms.h"
#include "simulate/network.h"
#include "simulate/predict.h"
#include "simulate/published.h"

namespace detccl::simulate {
namespace {

/// Of each series every other size is fitted, from the smallest on.
std::vector<ValidatedPoint> points_of(const std::vector<Measured>& all, bool native) {
  std::vector<ValidatedPoint> points;
  std::map<std::string, int> seen;
  for (const Measured& m : all) {
    ValidatedPoint p;
    p.series = m.series;
    p.bytes = m.c.bytes;
    p.measured = native ? m.native : m.seconds;
    p.fitted = seen[m.series]++ % 2 == 0;
    points.push_back(p);
  }
  return points;
}

double predicted(const Measured& m, bool native, double group, double bandwidth) {
  const Platform platform = bus_platform(m.ranks, m.host, group, bandwidth);
  if (!native) return run(platform, replay(m.c, platform, m.settings));
  const std::uint32_t laps = m.c.collective == plan::Collective::all_reduce ? 2 : 1;
  return ring_seconds(platform, platform.parameters.protocols.front(), laps, static_cast<double>(m.c.bytes));
}

Fit fit_all(const std::vector<Measured>& all, bool native) {
  Fit result;
  result.what = native ? "native" : "deterministic";
  result.ranks = all.front().ranks;
  result.points = points_of(all, native);
  const auto error = [&](double group, double bandwidth) {
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!result.points[i].fitted) continue;
      const double off = std::log(predicted(all[i], native, group, bandwidth) / result.points[i].measured);
      sum += off * off;
    }
    return sum;
  };
  double least = HUGE_VAL, most = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    least = std::min(least, result.points[i].measured);
    most =
        std::max(most, 2.0 * all[i].ranks * static_cast<double>(all[i].c.bytes) / result.points[i].measured);
  }
  std::tie(result.group, result.bandwidth) = fit({least / 2, most}, error);
  for (std::size_t i = 0; i < all.size(); ++i)
    result.points[i].predicted = predicted(all[i], native, result.group, result.bandwidth);
  return result;
}

}  // namespace

Platform bus_platform(std::uint32_t ranks, bool host, double group, double bandwidth) {
  Platform p;
  p.bus = true;
  p.gpus = ranks;
  Parameters& q = p.parameters;
  q = default_parameters("h200");
  q.nvlink = {bandwidth, 0};
  q.launch = group;
  q.protocols = {{"simple", 1, group, group, 0, 0, 0, 0}};
  // All ranks fold in the same memory: a GPU's, or the link is the memory.
  q.fold_bandwidth = q.fold_bandwidth_beside = (host ? bandwidth : q.fold_bandwidth) / ranks;
  if (host) q.transfer = q.fold_launch = q.fold_next = 0;
  return p;
}

std::pair<double, double> fit(std::pair<double, double> start,
                              const std::function<double(double, double)>& error) {
  double best = error(start.first, start.second);
  for (double step = 1; step > 0.01; step /= 2) {
    for (bool better = true; better;) {
      better = false;
      for (const auto& [a, b] : {std::pair{step, 0.0}, {-step, 0.0}, {0.0, step}, {0.0, -step}}) {
        const std::pair next{start.first * std::exp(a), start.second * std::exp(b)};
        const double there = error(next.first, next.second);
        if (there >= best) continue;
        best = there;
        start = next;
        better = true;
      }
    }
  }
  return start;
}

Validation validate(const std::string& file, const std::string& json, std::uint64_t chunk) {
  if (is_published(json)) return validate_published(file, json);
  const std::vector<Measured> all = read_measured(json, chunk);
  Validation v;
  v.file = file;
  v.fits.push_back(fit_all(all, false));
  const bool native = std::all_of(all.begin(), all.end(), [](const Measured& m) { return m.native > 0; });
  if (native) v.fits.push_back(fit_all(all, true));
  return v;
}

Errors errors(const std::vector<ValidatedPoint>& points, bool fitted) {
  std::vector<double> all;
  for (const ValidatedPoint& p : points)
    if (p.fitted == fitted) all.push_back(std::abs(p.error()));
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  return {all.size(), all[all.size() / 2], all.back()};
}

}  // namespace detccl::simulate
