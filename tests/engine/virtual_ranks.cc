// SPDX-License-Identifier: Apache-2.0
#include "virtual_ranks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/execution.h"

namespace detccl::test {
namespace {

using transport::Completion;
using transport::Exchange;

class Shuffled final : public Exchange {
 public:
  Shuffled(std::unique_ptr<Exchange> inner, std::uint64_t seed) : inner_(std::move(inner)), random_(seed) {}

  std::uint32_t rank() const override { return inner_->rank(); }
  std::uint32_t size() const override { return inner_->size(); }
  void send(std::uint32_t peer, std::uint64_t tag, const void* data, std::size_t bytes,
            Completion& c) override {
    c.state = Completion::State::pending;
    held_.push_back([=, this, &c] { inner_->send(peer, tag, data, bytes, c); });
  }
  void receive(std::uint32_t peer, std::uint64_t tag, void* data, std::size_t bytes, Completion& c) override {
    c.state = Completion::State::pending;
    held_.push_back([=, this, &c] { inner_->receive(peer, tag, data, bytes, c); });
  }
  bool progress() override {
    for (std::size_t some = random_() % 3; some > 0 && !held_.empty(); --some) {
      std::swap(held_[random_() % held_.size()], held_.back());
      const auto post = std::move(held_.back());
      held_.pop_back();
      post();
    }
    return inner_->progress();
  }
  void abandon() override {
    held_.clear();
    inner_->abandon();
  }
  std::string failure() const override { return inner_->failure(); }

 private:
  std::unique_ptr<Exchange> inner_;
  Random random_;
  std::vector<std::function<void()>> held_;
};

/// One rank with all that it needs.
struct Rank {
  Rank(const Case& c, std::uint32_t rank, std::unique_ptr<Exchange> e)
      : buffers(c, rank),
        exchange(std::move(e)),
        scratch(c.settings.scratch_limit),
        planner(c.settings, rank, c.ranks) {
    const engine::Reduction call = buffers.call();
    execution = std::make_unique<engine::Execution>(*exchange, scratch, planner.arithmetic(call),
                                                    planner.jobs(call), 5);
  }

  Buffers buffers;
  std::unique_ptr<Exchange> exchange;
  engine::Scratch scratch;
  engine::Planner planner;
  std::unique_ptr<engine::Execution> execution;
};

/// Rounds in which no rank finishes a stage, after which it is a deadlock. Held transfers take a few.
constexpr int kIdleRounds = 2000;

std::string drive(std::vector<std::unique_ptr<Rank>>& ranks, Random* order) {
  std::vector<std::size_t> turn(ranks.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  std::uint64_t steps_before = 0;
  for (int idle = 0; idle < kIdleRounds;) {
    if (order != nullptr) std::shuffle(turn.begin(), turn.end(), *order);
    bool running = false;
    std::uint64_t steps = 0;
    for (const std::size_t r : turn) {
      engine::Execution& execution = *ranks[r]->execution;
      const engine::Status status = execution.progress();
      if (status == engine::Status::failed) return "rank " + std::to_string(r) + ": " + execution.failure();
      running = running || status == engine::Status::running;
      steps += execution.steps();
    }
    if (!running) return {};
    idle = steps == steps_before ? idle + 1 : 0;
    steps_before = steps;
  }
  return "no rank gets any further";
}

}  // namespace

std::unique_ptr<Exchange> shuffled(std::unique_ptr<Exchange> inner, std::uint64_t seed) {
  return std::make_unique<Shuffled>(std::move(inner), seed);
}

Results run_virtual(const Case& c, Delivery delivery) {
  transport::LoopFabric fabric(c.ranks);
  Random random(c.seed ^ 0x9e3779b97f4a7c15);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    auto exchange = fabric.exchange(r);
    if (delivery == Delivery::shuffled) exchange = shuffled(std::move(exchange), random());
    ranks.push_back(std::make_unique<Rank>(c, r, std::move(exchange)));
  }
  Results results;
  results.failure = drive(ranks, delivery == Delivery::shuffled ? &random : nullptr);
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    results.outputs.push_back(ranks[r]->buffers.output());
    const std::string damage = ranks[r]->buffers.damage();
    if (results.failure.empty() && !damage.empty())
      results.failure = "rank " + std::to_string(r) + ": " + damage;
  }
  return results;
}

std::string check_virtual(const Case& c, Delivery delivery) {
  const Results results = run_virtual(c, delivery);
  if (!results.failure.empty()) return results.failure;
  std::vector<Bytes> inputs;
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    inputs.push_back(input_of(c, r));
  Bytes expected;
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    if (r == 0 || c.collective != plan::Collective::all_reduce) expected = expected_of(c, r, inputs);
    const auto [mine, theirs] =
        std::mismatch(results.outputs[r].begin(), results.outputs[r].end(), expected.begin(), expected.end());
    if (mine == results.outputs[r].end() && theirs == expected.end()) continue;
    const auto at = static_cast<std::size_t>(theirs - expected.begin()) / c.size();
    return "rank " + std::to_string(r) + " differs from the reference at element " + std::to_string(at);
  }
  return {};
}

}  // namespace detccl::test
