// SPDX-License-Identifier: Apache-2.0
#include "plan/tuner/fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace detccl::plan::tuner {
namespace {

using Place = double& (*)(Coefficients& c);

constexpr std::array<Place, 7> kNear = {
    [](Coefficients& c) -> double& { return c.call; },
    [](Coefficients& c) -> double& { return c.step; },
    [](Coefficients& c) -> double& { return c.message; },
    [](Coefficients& c) -> double& { return c.near.latency; },
    [](Coefficients& c) -> double& { return c.near.bandwidth; },
    [](Coefficients& c) -> double& { return c.fold_bandwidth; },
    [](Coefficients& c) -> double& { return c.beyond_cache; },
};
constexpr std::array<Place, 2> kFar = {
    [](Coefficients& c) -> double& { return c.far.latency; },
    [](Coefficients& c) -> double& { return c.far.bandwidth; },
};

/// Weight of the square of a figure's logarithm's way from where it began, against a sample's.
constexpr double kStay = 0.01;

/// Where chunks may leave the caches.
constexpr double kCaches[] = {0, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20};

/// A figure of nothing has no logarithm: a nanosecond will do.
constexpr double kSmall = 1e-9;

double squares(std::span<const Sample> samples, const Coefficients& c) {
  double sum = 0;
  for (const Sample& sample : samples) {
    const double off = std::log(error(sample, c) + 1);
    sum += off * off;
  }
  return sum;
}

bool has_far(const Sample& s) {
  return s.question.group < s.question.ranks;
}

Coefficients fit_figures(std::span<const Sample> samples, const Coefficients& start, bool far, double& sum) {
  std::vector<Place> places(kNear.begin(), kNear.end());
  if (far) places.insert(places.end(), kFar.begin(), kFar.end());
  if (start.cache == 0) std::erase(places, kNear.back());
  Coefficients c = start;
  std::vector<double> first;
  for (const Place place : places)
    first.push_back(std::max(place(c), kSmall));
  const double latency = start.far.latency / std::max(start.near.latency, kSmall);
  const double bandwidth = start.far.bandwidth / start.near.bandwidth;
  const auto put = [&](std::span<const double> values) {
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i](c) = values[i];
    c.beyond_cache = std::max(c.beyond_cache, 1.0);
    if (!far) c.far = {c.near.latency * latency, c.near.bandwidth * bandwidth};
  };
  const auto off = [&](std::span<const double> values) {
    put(values);
    double all = squares(samples, c);
    for (std::size_t i = 0; i < values.size(); ++i)
      all += kStay * std::pow(std::log(values[i] / first[i]), 2);
    return all;
  };
  const std::vector<double> found = search(first, off);
  sum = off(found);
  put(found);
  return c;
}

/// What is left over by schedule, as far as so many samples tell.
void fit_factors(std::span<const Sample> samples, Coefficients& c) {
  for (std::size_t kind = 0; kind < c.factors.size(); ++kind) {
    double sum = 0, number = 0;
    for (const Sample& s : samples) {
      if (static_cast<std::size_t>(s.schedule.kind) != kind) continue;
      sum += std::log(error(s, c) + 1);
      ++number;
    }
    c.factors[kind] *= std::exp(-sum / (number + 2));
  }
}

/// What the factors leave.
void note_errors(std::span<const Sample> samples, Coefficients& c) {
  for (std::size_t kind = 0; kind < c.errors.size(); ++kind) {
    std::vector<double> off;
    for (const Sample& s : samples)
      if (static_cast<std::size_t>(s.schedule.kind) == kind) off.push_back(std::abs(error(s, c)));
    std::sort(off.begin(), off.end());
    if (!off.empty()) c.errors[kind] = std::min(off[off.size() / 2], 1.0);
  }
}

}  // namespace

double error(const Sample& s, const Coefficients& c) {
  return predict(s.question, s.schedule, s.chunk, c).total() / s.seconds - 1;
}

std::vector<double> search(std::vector<double> at,
                           const std::function<double(std::span<const double>)>& error) {
  double best = error(at);
  for (double step = 1; step > 0.01; step /= 2) {
    for (bool better = true; better;) {
      better = false;
      for (double& number : at) {
        for (const double factor : {std::exp(step), std::exp(-step)}) {
          const double before = number;
          number *= factor;
          const double there = error(at);
          if (there < best * (1 - 1e-6)) {
            best = there;
            better = true;
            break;
          }
          number = before;
        }
      }
    }
  }
  return at;
}

Coefficients fit(std::span<const Sample> samples, const Coefficients& start) {
  const bool far = std::any_of(samples.begin(), samples.end(), has_far);
  Coefficients best = start;
  double least = HUGE_VAL;
  for (const double cache : kCaches) {
    Coefficients c = start;
    c.cache = cache;
    c.beyond_cache = cache == 0 ? 1 : 1.5;
    double sum = 0;
    c = fit_figures(samples, c, far, sum);
    // A cache has to explain something.
    if (sum < least * (cache == 0 ? 1 : 0.98)) {
      least = sum;
      best = c;
    }
  }
  fit_factors(samples, best);
  note_errors(samples, best);
  return best;
}

}  // namespace detccl::plan::tuner
