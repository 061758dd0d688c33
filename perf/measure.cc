// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>

namespace detccl::perf {
namespace {

using Function = std::function<void()>;

constexpr double kShortest =
    1e-9;  ///< of a call, in seconds: no clock sees less, and ratios need more than 0

/// Fewer calls and rounds, as the time allows; one call of both takes `pair` seconds.
Effort shortened(Effort e, double pair) {
  if (e.seconds <= 0.0 || pair <= 0.0) return e;
  const auto at_most = [](double x, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint64_t>(std::clamp(x, static_cast<double>(least), static_cast<double>(most)));
  };
  // A batch has one call more than are timed.
  std::uint64_t& repeated = e.replays > 0 ? e.replays : e.calls;
  const double unit = e.replays > 0 ? pair * static_cast<double>(e.calls) : pair;
  repeated = at_most(e.seconds / (static_cast<double>(e.rounds) * unit) - 1.0, 1, repeated);
  e.rounds = at_most(e.seconds / (static_cast<double>(repeated + 1) * unit),
                     std::min<std::uint64_t>(3, e.rounds), e.rounds);
  return e;
}

class Candidate {
 public:
  Candidate(Job& job, Device& device, Function call) : job_(job), device_(device), call_(std::move(call)) {}

  /// Seconds of one warm call, this rank's.
  double warm_up(std::uint64_t calls) {
    job_.barrier();
    if (calls > 1) device_.time(calls - 1, call_);
    return calls > 0 ? device_.time(1, call_).seconds : 0.0;
  }

  void capture(std::uint64_t calls) {
    call_ = device_.capture(calls, call_);
    calls_per_launch_ = static_cast<double>(calls);
    device_.time(1, call_);
  }

  void round(std::uint64_t launches, std::vector<double>& seconds, std::vector<double>& host_seconds) {
    job_.barrier();
    const CallTime time = device_.time(launches, call_);
    seconds.push_back(std::max(time.seconds / calls_per_launch_, kShortest));
    host_seconds.push_back(time.host_seconds / calls_per_launch_);
  }

 private:
  Job& job_;
  Device& device_;
  Function call_;
  double calls_per_launch_ = 1.0;
};

}  // namespace

Timing measure(Job& job, Device& device, const Effort& wanted, const Function& ours, const Function& peer) {
  Candidate us(job, device, ours), them(job, device, peer);
  double pair = (peer ? them.warm_up(wanted.warmup) : 0.0) + us.warm_up(wanted.warmup);
  job.max_over_ranks({&pair, 1});
  const Effort effort = shortened(wanted, pair);
  if (effort.replays > 0) {
    if (peer) them.capture(effort.calls);
    us.capture(effort.calls);
  }
  Timing timing;
  timing.calls = effort.calls;
  const std::uint64_t launches = effort.replays > 0 ? effort.replays : effort.calls;
  for (std::uint64_t i = 0; i < effort.rounds; ++i) {
    if (peer) them.round(launches, timing.peer, timing.peer_host);
    us.round(launches, timing.ours, timing.our_host);
  }
  for (std::vector<double>* times : {&timing.ours, &timing.peer, &timing.our_host, &timing.peer_host})
    job.max_over_ranks(*times);
  return timing;
}

}  // namespace detccl::perf
