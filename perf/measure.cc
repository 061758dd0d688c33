// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>

namespace detccl::perf {
namespace {

double time_call(const Job& job, const std::function<void()>& call) {
  job.barrier();
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

Timing measure(const Job& job, std::uint64_t warmup, std::uint64_t iterations,
               const std::function<void()>& ours, const std::function<void()>& peer) {
  std::vector<double> our_times, peer_times, ratios;
  for (std::uint64_t i = 0; i < warmup + iterations; ++i) {
    const double our_time = time_call(job, ours);
    const double peer_time = peer ? time_call(job, peer) : 0.0;
    if (i < warmup) continue;
    our_times.push_back(our_time);
    peer_times.push_back(peer_time);
  }
  job.max_over_ranks(our_times);
  job.max_over_ranks(peer_times);
  for (std::size_t i = 0; i < our_times.size(); ++i)
    ratios.push_back(peer ? our_times[i] / peer_times[i] : 0.0);
  return {spread(our_times), spread(peer_times), spread(ratios)};
}

}  // namespace detccl::perf
