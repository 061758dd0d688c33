// SPDX-License-Identifier: Apache-2.0
#include "virtual_streams.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "engine/stream/lanes.h"
#include "engine/stream/task_source.h"

namespace detccl::test {
namespace {

using engine::stream::Batch;
using engine::stream::Machine;
using engine::stream::Task;
using engine::stream::TaskSource;

struct End {
  std::byte* data;
  std::size_t bytes;
};

/// Writes down what a rank's tick asks for.
class Recorder final : public Machine {
 public:
  void send(std::uint32_t peer, const void* data, std::size_t bytes) override {
    sends[peer].push_back({static_cast<std::byte*>(const_cast<void*>(data)), bytes});
  }
  void receive(std::uint32_t peer, void* data, std::size_t bytes) override {
    receives[peer].push_back({static_cast<std::byte*>(data), bytes});
  }
  void all_gather(const void* from, void* to, std::size_t bytes) override {
    gathers.emplace_back(End{static_cast<std::byte*>(const_cast<void*>(from)), bytes},
                         End{static_cast<std::byte*>(to), bytes});
  }
  void fold(const device::host::Arithmetic& arithmetic, std::span<const device::host::Operand> operands,
            void* result, plan::Form form, std::uint64_t count) override {
    folds.push_back([=, kept = std::vector(operands.begin(), operands.end())] {
      device::host::fold(arithmetic, kept, result, form, count);
    });
  }

  std::map<std::uint32_t, std::vector<End>> sends, receives;
  std::vector<std::pair<End, End>> gathers;
  std::vector<std::function<void()>> folds;
};

struct Lane {
  Batch batch;
  std::byte* scratch;
  Recorder now;
  std::vector<std::vector<std::function<void()>>> late;  ///< folds not yet run, by tick
};

struct Rank {
  Rank(const engine::Settings& settings, std::uint32_t rank, std::uint32_t ranks,
       const std::vector<engine::Reduction>& calls, bool gathers) {
    TaskSource source(settings, rank, ranks, gathers);
    std::vector<Task> tasks;
    for (const engine::Reduction& call : calls)
      source.append(call, tasks);
    auto batches = engine::stream::deal(std::move(tasks), settings.scratch_limit, settings.lanes);
    const auto count = static_cast<std::uint32_t>(batches.size());
    const std::size_t each = engine::stream::lane_scratch(settings.scratch_limit, count);
    std::size_t bytes = 0;
    for (std::size_t lane = 0; lane < count; ++lane)
      bytes = std::max(bytes, lane * each + batches[lane].scratch());
    scratch.assign(bytes, std::byte{0xA5});
    for (std::size_t lane = 0; lane < count; ++lane)
      lanes.push_back({std::move(batches[lane]), scratch.data() + lane * each, {}, {}});
  }

  std::vector<std::byte> scratch;
  std::vector<Lane> lanes;
};

using Copy = std::function<void()>;

void copy(const End& from, const End& to) {
  if (from.data != to.data) std::memmove(to.data, from.data, from.bytes);
}

std::string pair_up(const std::vector<Lane*>& ranks, std::vector<Copy>& copies) {
  for (std::uint32_t from = 0; from < ranks.size(); ++from) {
    for (std::uint32_t to = 0; to < ranks.size(); ++to) {
      const auto& sends = ranks[from]->now.sends[to];
      const auto& receives = ranks[to]->now.receives[from];
      if (sends.size() != receives.size()) return "sends and receives of a tick do not pair";
      for (std::size_t i = 0; i < sends.size(); ++i) {
        if (sends[i].bytes != receives[i].bytes) return "a send and its receive differ in size";
        copies.emplace_back([s = sends[i], r = receives[i]] { copy(s, r); });
      }
    }
  }
  const std::size_t gathers = ranks[0]->now.gathers.size();
  for (const Lane* rank : ranks) {
    if (rank->now.gathers.size() != gathers) return "all-gathers of a tick do not pair";
    for (std::size_t g = 0; g < gathers; ++g) {
      const End to = rank->now.gathers[g].second;
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const End from = ranks[r]->now.gathers[g].first;
        if (from.bytes != to.bytes) return "parts of an all-gather differ in size";
        copies.emplace_back([=] { copy(from, {to.data + r * to.bytes, to.bytes}); });
      }
    }
  }
  return {};
}

void run_late(Lane& lane, std::size_t before) {
  for (std::size_t tick = 0; tick < std::min(before, lane.late.size()); ++tick) {
    for (const auto& fold : std::exchange(lane.late[tick], {}))
      fold();
  }
}

/// Of one lane, `ranks` by rank.
std::string run_tick(const std::vector<Lane*>& ranks, std::uint32_t tick, Random& random) {
  for (Lane* rank : ranks) {
    rank->batch.turn_to(tick);
    rank->now = {};
    rank->batch.exchange(rank->scratch, rank->now);
    rank->batch.fold(rank->scratch, rank->now);
    // What has to be complete by now, and sometimes no more.
    if (rank->batch.overlapped() && tick > 0) run_late(*rank, tick - 1);
    if (!rank->batch.overlapped() || random() % 2 == 0) run_late(*rank, tick);
  }
  std::vector<Copy> copies;
  const std::string unpaired = pair_up(ranks, copies);
  if (!unpaired.empty()) return unpaired + ", tick " + std::to_string(tick);
  std::shuffle(copies.begin(), copies.end(), random);
  for (const Copy& one : copies)
    one();
  for (Lane* rank : ranks)
    rank->late.push_back(std::move(rank->now.folds));
  return {};
}

/// Every lane's ticks in their order, and in a random one among the lanes: they need nothing of each other.
std::string run_lanes(const std::vector<std::vector<Lane*>>& lanes, Random& random) {
  std::vector<std::uint32_t> next(lanes.size());
  std::vector<std::size_t> under_way(lanes.size());
  std::iota(under_way.begin(), under_way.end(), 0);
  while (!under_way.empty()) {
    const std::size_t which = random() % under_way.size(), lane = under_way[which];
    if (next[lane] == lanes[lane].front()->batch.ticks()) {
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const std::string failure = run_tick(lanes[lane], next[lane]++, random);
    if (!failure.empty()) return failure + ", lane " + std::to_string(lane);
  }
  return {};
}

}  // namespace

StreamResults run_calls(const engine::Settings& settings,
                        const std::vector<std::vector<engine::Reduction>>& calls, bool gathers,
                        Random& random) {
  const auto count = static_cast<std::uint32_t>(calls.size());
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::uint32_t r = 0; r < count; ++r)
    ranks.push_back(std::make_unique<Rank>(settings, r, count, calls[r], gathers));
  StreamResults results;
  results.lanes = ranks[0]->lanes.size();
  results.overlapped = ranks[0]->lanes[0].batch.overlapped();
  std::vector<std::vector<Lane*>> lanes(results.lanes);
  for (const auto& rank : ranks) {
    if (rank->lanes.size() != results.lanes) {
      results.failure = "ranks differ in their lanes";
      return results;
    }
    for (std::size_t lane = 0; lane < results.lanes; ++lane) {
      lanes[lane].push_back(&rank->lanes[lane]);
      if (rank->lanes[lane].batch.ticks() != ranks[0]->lanes[lane].batch.ticks())
        results.failure = "ranks differ in their ticks";
    }
    if (rank->scratch.size() > settings.scratch_limit) results.failure = "too much scratch";
  }
  if (results.failure.empty()) results.failure = run_lanes(lanes, random);
  for (const auto& rank : ranks)
    for (Lane& lane : rank->lanes)
      run_late(lane, lane.late.size());
  return results;
}

StreamResults run_streams(const std::vector<Case>& cases, bool gathers, Random& random) {
  std::vector<std::vector<std::unique_ptr<Buffers>>> buffers(cases.front().ranks);
  std::vector<std::vector<engine::Reduction>> calls(cases.front().ranks);
  for (std::uint32_t r = 0; r < cases.front().ranks; ++r) {
    for (const Case& c : cases) {
      buffers[r].push_back(std::make_unique<Buffers>(c, r));
      calls[r].push_back(buffers[r].back()->call());
    }
  }
  StreamResults results = run_calls(cases.front().settings, calls, gathers, random);
  results.outputs.resize(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const auto& rank : buffers) {
      results.outputs[i].push_back(rank[i]->output());
      if (results.failure.empty()) results.failure = rank[i]->damage();
    }
  }
  return results;
}

std::string check_streams(const std::vector<Case>& cases, bool gathers, Random& random) {
  const StreamResults results = run_streams(cases, gathers, random);
  if (!results.failure.empty()) return results.failure;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    std::vector<Bytes> inputs;
    for (std::uint32_t r = 0; r < c.ranks; ++r)
      inputs.push_back(input_of(c, r));
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      if (results.outputs[i][r] != expected_of(c, r, inputs))
        return "rank " + std::to_string(r) + " differs from the reference: " + describe(c);
    }
  }
  return {};
}

}  // namespace detccl::test
