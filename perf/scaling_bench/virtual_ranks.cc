// SPDX-License-Identifier: Apache-2.0
#include "scaling_bench/virtual_ranks.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/reference.h"
#include "engine/reduction.h"
#include "scaling_bench/measure.h"
#include "transport/loop/loop_fabric.h"

namespace detccl::perf::scaling {
namespace {

using Buffer = std::vector<float>;

/// Of mixed sizes, so that the order of additions shows.
float value(std::uint32_t rank, std::uint64_t element) {
  const std::uint64_t mixed = (element * 0x9e3779b97f4a7c15u + rank + 1) * 0xbf58476d1ce4e5b9u;
  const float size = static_cast<float>(std::uint64_t{1} << (mixed >> 60));
  return (static_cast<float>(mixed >> 20 & 0xffffff) / 16777216.0f - 0.5f) * size;
}

class Rank {
 public:
  Rank(plan::Schedule schedule, std::uint32_t rank, std::uint32_t ranks, std::uint64_t elements,
       std::unique_ptr<transport::Exchange> exchange)
      : exchange_(std::move(exchange)),
        scratch_(settings_of(schedule).scratch_limit),
        planner_(settings_of(schedule), rank, ranks),
        input_(elements),
        output_(elements) {
    for (std::uint64_t e = 0; e < elements; ++e)
      input_[e] = value(rank, e);
  }

  void begin(std::uint32_t sequence) {
    engine::Reduction call;
    call.send = input_.data();
    call.receive = output_.data();
    call.count = input_.size();
    execution_ = std::make_unique<engine::Execution>(*exchange_, scratch_, planner_.arithmetic(call),
                                                     planner_.jobs(call), sequence);
  }
  /// Whether there is more to do.
  bool progress() {
    const engine::Status status = execution_->progress();
    if (status == engine::Status::failed) throw std::runtime_error(execution_->failure());
    return status == engine::Status::running;
  }
  std::uint64_t steps() const { return execution_->steps(); }
  void end() { execution_.reset(); }
  const Buffer& input() const { return input_; }
  const Buffer& output() const { return output_; }

 private:
  static engine::Settings settings_of(plan::Schedule schedule) {
    engine::Settings settings;
    settings.schedule = schedule;
    return settings;
  }

  std::unique_ptr<transport::Exchange> exchange_;
  engine::Scratch scratch_;
  engine::Planner planner_;
  Buffer input_, output_;
  std::unique_ptr<engine::Execution> execution_;
};

using Ranks = std::vector<std::unique_ptr<Rank>>;

/// One call of all ranks. The most stages of a rank.
std::uint64_t run_one(const Ranks& ranks, std::uint32_t sequence) {
  constexpr int kIdleRounds = 1000;  // of all ranks, after which nobody waits for anybody any more
  for (const auto& rank : ranks)
    rank->begin(sequence);
  std::uint64_t before = 0;
  int idle = 0;
  for (bool running = true; running;) {
    running = false;
    std::uint64_t steps = 0;
    for (const auto& rank : ranks) {
      running = rank->progress() || running;
      steps += rank->steps();
    }
    idle = steps == before ? idle + 1 : 0;
    before = steps;
    if (idle == kIdleRounds) throw std::runtime_error("no rank gets any further");
  }
  std::uint64_t most = 0;
  for (const auto& rank : ranks) {
    most = std::max(most, rank->steps());
    rank->end();
  }
  return most;
}

bool all_right(const Ranks& ranks) {
  std::vector<const void*> inputs;
  for (const auto& rank : ranks)
    inputs.push_back(rank->input().data());
  Buffer expected(ranks.front()->input().size());
  contract::reduce(contract::Contract{}, contract::DataType::float32, contract::Op::sum, inputs,
                   expected.data(), expected.size());
  return std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) {
    return std::equal(expected.begin(), expected.end(),
                      rank->output().begin());  // no value is a NaN or a zero
  });
}

}  // namespace

Calls run_calls(plan::Schedule schedule, std::uint32_t ranks, std::uint64_t elements, int repeats) {
  transport::LoopFabric fabric(ranks);
  Ranks all;
  for (std::uint32_t r = 0; r < ranks; ++r)
    all.push_back(std::make_unique<Rank>(schedule, r, ranks, elements, fabric.exchange(r)));
  Calls calls;
  calls.bytes = elements * sizeof(float);
  run_one(all, 0);  // builds the plans
  std::vector<double> times;
  for (int i = 1; i <= repeats; ++i) {
    const auto start = Clock::now();
    calls.stages = run_one(all, static_cast<std::uint32_t>(i));
    times.push_back(seconds_since(start) * 1e6 / ranks);
  }
  calls.us_per_rank = median(times);
  calls.right = all_right(all);
  return calls;
}

}  // namespace detccl::perf::scaling
