// SPDX-License-Identifier: Apache-2.0
// Figures, not judged: what a small AllReduce costs the host, and how long it takes.
#include <algorithm>
#include <chrono>
#include <vector>

#include "cases.h"

namespace promises {
namespace {

double microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// `bytes` of fp32. The stream is empty at every tenth call, so that its queue is never full.
void all_reduce(Job& job, Result& result, std::size_t bytes) {
  constexpr int kWarm = 50, kCalls = 500;
  const Reduction r{};
  const std::size_t count = bytes / sizeof(float);
  Vector data(job, r, count);
  data.put(Bytes(bytes));
  std::vector<double> calls, complete;
  for (int i = 0; i < kWarm + kCalls; ++i) {
    const bool wait = i % 10 == 9;
    const auto start = std::chrono::steady_clock::now();
    require(ncclAllReduce(data.data(), data.data(), count, ncclFloat32, ncclSum, job.comm(),
                          job.device().stream(0)),
            "ncclAllReduce");
    const auto called = std::chrono::steady_clock::now();
    if (i >= kWarm) calls.push_back(microseconds(called - start));
    if (!wait) continue;
    job.device().wait();
    const auto again = std::chrono::steady_clock::now();
    require(ncclAllReduce(data.data(), data.data(), count, ncclFloat32, ncclSum, job.comm(),
                          job.device().stream(0)),
            "ncclAllReduce");
    job.device().wait();
    if (i >= kWarm) complete.push_back(microseconds(std::chrono::steady_clock::now() - again));
  }
  result.figures["call_us"] = median(calls);
  result.figures["complete_us"] = median(complete);
  result.expect(data.guards_intact(), "nothing is written beyond the result");
}

}  // namespace

void add_time_cases(Cases& cases) {
  cases.push_back({"time.all_reduce_1K", [](Job& job, Result& result) { all_reduce(job, result, 1024); }});
  cases.push_back(
      {"time.all_reduce_256K", [](Job& job, Result& result) { all_reduce(job, result, 256 * 1024); }});
}

}  // namespace promises
