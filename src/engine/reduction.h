// SPDX-License-Identifier: Apache-2.0
// From a collective call's arguments to the jobs that carry it out: choice of schedule and chunk, plans,
// and, when asked, their proof before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/execution.h"
#include "plan/tuner/coefficients.h"

namespace detccl::engine {

/// What is quickest where the engine runs. The defaults: host memory, where two cores share the caches.
struct Tuning {
  std::uint64_t chunk_bytes = 1u << 20;  ///< payload of a chunk
  std::uint64_t chained_chunk_bytes = 128u
                                      << 10;  ///< of one that goes from rank to rank: a chain soon fills up
  /// The largest message for which everyone takes all raw inputs in one exchange, rather than everyone a
  /// shard and then the results, times the square of the ranks: that many more bytes cost less than a second
  /// exchange.
  std::uint64_t gather_limit = 1u << 20;
};

struct Reduction;

/// How a call is carried out.
struct Choice {
  plan::Schedule schedule;
  std::uint64_t chunk = 1;       ///< elements, as chunk_elements()
  std::uint64_t wave_bytes = 0;  ///< payload bytes that were wanted in a chunk
  double predicted = 0;          ///< seconds; 0: there are no coefficients, or one rank
};

/// The same on every rank of a communicator.
struct Settings {
  contract::Contract contract;
  std::optional<plan::Schedule> schedule;  ///< nothing: chosen by size and contract
  std::uint32_t group = 1;                ///< of a schedule hier that does not say: see plan::Schedule::group
  std::uint32_t near = 0;                 ///< ranks that are near each other; 0: as many as `group`
  std::size_t chunk_bytes = 0;            ///< payload bytes of a chunk; 0: chosen
  std::size_t scratch_limit = 16u << 20;  ///< bytes per communicator
  /// On GPUs: communicators of ours that share the chunks of a call, see stream/lanes.h.
  std::uint32_t lanes = 1;
  bool prove = false;  ///< prove each plan when it is built
  Tuning tuning;
  /// What the machine's operations cost, from which schedule and chunk are chosen where they are not given.
  /// Null: the rule of choose_schedule() and tuning.
  std::shared_ptr<const plan::tuner::Coefficients> coefficients;
  /// Told of a choice when it is the first of its collective, type and power of two of the size.
  std::function<void(const Reduction& call, const Choice& choice)> on_choice;
};

/// Of an engine on GPUs.
Settings gpu_defaults();

struct Reduction {
  plan::Collective collective = plan::Collective::all_reduce;
  contract::DataType type = contract::DataType::float32;
  contract::Op op = contract::Op::sum;
  std::uint64_t scalar = 0;  ///< PreMulSum's factor: its bit pattern in `type`
  const void* send = nullptr;
  void* receive = nullptr;  ///< reduce: only used at the root
  std::uint64_t count = 0;  ///< elements of the message; reduce_scatter: of one rank's shard
  std::uint32_t root = 0;
  const void* scalar_memory = nullptr;       ///< GPU only: where the factor is read instead when a fold runs
  std::optional<plan::Schedule> schedule{};  ///< instead of the settings'
  std::uint32_t divisor = 0;                 ///< avg's, if it is not the number of ranks
};

/// The rule: the schedule for `message_bytes` (reduce_scatter: all shards together) over n ranks:
/// settings.schedule if given; else `gather` up to tuning.gather_limit / n^2, `direct` beyond. Both carry out
/// every contract.
plan::Schedule choose_schedule(const Settings& settings, std::uint32_t ranks, std::uint64_t message_bytes);

/// Elements of a chunk (reduce_scatter: of each rank's shard), at least one. settings.chunk_bytes, or the
/// default, of payload: of the message, or of all shards together where they travel together (gather,
/// direct). Less where kMinWindow jobs, or one in each lane, would not fit into settings.scratch_limit
/// otherwise: what a job needs of scratch grows with the chunk and, by gather, with n. Only over so many
/// ranks that one element of each (and 256 bytes a rank) are more than that does a job take more scratch than
/// the limit.
std::uint64_t chunk_elements(const Settings& settings, plan::Collective collective, plan::Schedule schedule,
                             std::uint32_t ranks, contract::DataType type);
inline constexpr std::size_t kMinWindow = 2;
/// Payload bytes of a chunk, unless less scratch than that is allowed.
std::uint64_t wanted_chunk(const Settings& settings, plan::Schedule schedule);

/// Where programs come from; plan::build, except in tests.
using PlanSource = std::function<plan::Program(const plan::Spec&, std::uint32_t rank)>;

class Chooser;

/// Plans of one communicator, built once per shape and kept (a bounded number of them).
class Planner {
 public:
  Planner(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, PlanSource source = plan::build);
  ~Planner();

  /// The jobs of `call`, chunked. Throws std::runtime_error with the prover's line if settings.prove is set
  /// and a plan fails its proof; std::invalid_argument where the schedule cannot carry out the contract.
  std::vector<Job> jobs(const Reduction& call);
  device::host::Arithmetic arithmetic(const Reduction& call) const;
  const Settings& settings() const { return settings_; }
  /// How `call` is carried out. Any thread.
  Choice choice(const Reduction& call) const;

 private:
  class Cache;
  Settings settings_;
  std::uint32_t rank_, ranks_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Chooser> chooser_;
};

}  // namespace detccl::engine
