// SPDX-License-Identifier: Apache-2.0
#include "plan/tuner/cost.h"

#include <algorithm>
#include <cmath>

namespace detccl::plan::tuner {
namespace {

constexpr double Terms::*kTerms[] = {&Terms::call, &Terms::launch, &Terms::latency, &Terms::near,
                                     &Terms::far,  &Terms::fold,   &Terms::hidden};

void add(Terms& sum, const Terms& part, double times) {
  for (double Terms::*term : kTerms)
    sum.*term += part.*term * times;
}

/// What a round keeps its rank busy with. `slow`: so many times longer, for bytes.
Terms busy(const Round& round, const Coefficients& c, double slow) {
  Terms t;
  t.launch = round.steps * c.step + round.messages * c.message;
  t.near = round.near_bytes / c.near.bandwidth * slow;
  t.far = round.far_bytes / c.far.bandwidth * slow;
  t.hidden = std::min(t.near, t.far);
  t.fold = round.folds * c.fold_launch + round.fold_bytes / c.fold_bandwidth * slow;
  return t;
}

double latency(const Round& round, const Coefficients& c) {
  return std::max(round.near_bytes > 0 ? c.near.latency : 0, round.far_bytes > 0 ? c.far.latency : 0);
}

/// Folds of one chunk beside transfers of another.
void overlap(Terms& t, const Coefficients& c) {
  t.hidden += c.overlap * std::min(t.launch + t.near + t.far - t.hidden, t.fold);
}

/// Work for so many times as many processors as there are.
double crowd(const Question& q, const Coefficients& c) {
  if (c.processors == 0) return 1;
  return std::max(1.0, std::min(q.group, q.ranks) / c.processors);
}

}  // namespace

Terms predict(const Question& q, const Schedule& schedule, double chunk, const Coefficients& c) {
  Terms sum;
  sum.call = c.call;
  if (q.ranks < 2 || q.bytes == 0) return sum;
  const double chunks = std::ceil(static_cast<double>(q.bytes) / chunk);
  const double bytes = static_cast<double>(q.bytes) / chunks;
  const Work done = work(q, schedule, bytes);
  const double slow = c.cache != 0 && bytes > c.cache ? c.beyond_cache : 1, crowded = crowd(q, c);
  Terms next;  // a further chunk
  for (const Round& round : done.rounds) {
    Terms t = busy(round, c, slow);
    if (!done.chained) add(next, t, crowded);
    t.latency = latency(round, c);
    add(sum, t, round.times * (done.chained ? 1 : crowded));
  }
  if (done.chained) {
    const Terms busiest = busy(done.busiest, c, slow);
    Terms all;
    add(all, busy(done.mean, c, slow), crowded);
    next = busiest.total() >= all.total() ? busiest : all;
  }
  overlap(next, c);
  add(sum, next, chunks * done.pieces - 1);
  Terms scaled;
  add(scaled, sum, c.factors[static_cast<std::size_t>(schedule.kind)]);
  return scaled;
}

}  // namespace detccl::plan::tuner
