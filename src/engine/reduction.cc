// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "engine/choice.h"
#include "plan/prover.h"

namespace detccl::engine {
namespace {

/// Programs kept per communicator: a few shapes, times a piece per rank.
std::size_t cache_capacity(std::uint32_t ranks) {
  return 64 + std::size_t{4} * ranks;
}

}  // namespace

/// Programs by spec; the least recently used goes first.
class Planner::Cache {
 public:
  Cache(PlanSource source, std::size_t capacity, bool prove)
      : source_(std::move(source)), capacity_(capacity), prove_(prove) {}

  std::shared_ptr<const plan::Program> get(const plan::Spec& spec, std::uint32_t rank);
  /// The pieces of `spec`; with proofs on, that they make up the whole is proved as well.
  std::vector<plan::Piece> pieces(const plan::Spec& spec);

 private:
  using Key = std::tuple<plan::Collective, plan::Schedule, std::uint32_t, std::uint64_t, std::uint64_t>;
  struct Entry {
    std::shared_ptr<const plan::Program> program;
    std::uint64_t used = 0;
  };

  /// Contract and ranks are the communicator's and the same in all keys.
  static Key key(const plan::Spec& s) { return {s.collective, s.schedule, s.root, s.count, s.stride}; }
  plan::Program build_and_prove(const plan::Spec& spec, std::uint32_t rank) const;

  PlanSource source_;
  std::size_t capacity_;
  bool prove_;
  std::uint64_t clock_ = 0;
  std::map<Key, Entry> entries_;
};

namespace {

void require(const plan::Proof& proof, const plan::Spec& spec) {
  if (proof.proved) return;
  throw std::runtime_error("the plan for " + std::string(plan::name(spec.collective)) + " by " +
                           std::string(plan::name(spec.schedule)) + " of " + std::to_string(spec.count) +
                           " elements over " + std::to_string(spec.ranks) +
                           " ranks fails its proof: " + proof.failure);
}

}  // namespace

plan::Program Planner::Cache::build_and_prove(const plan::Spec& spec, std::uint32_t rank) const {
  if (!prove_) return source_(spec, rank);
  std::vector<plan::Program> programs;
  programs.reserve(spec.ranks);
  for (std::uint32_t r = 0; r < spec.ranks; ++r)
    programs.push_back(source_(spec, r));
  // Ranks may differ in whether they work in place, so a plan has to be right for both.
  for (const bool in_place : {false, true})
    require(plan::prove(spec, programs, in_place), spec);
  return std::move(programs[rank]);
}

std::shared_ptr<const plan::Program> Planner::Cache::get(const plan::Spec& spec, std::uint32_t rank) {
  const auto found = entries_.find(key(spec));
  if (found != entries_.end()) {
    found->second.used = ++clock_;
    return found->second.program;
  }
  auto program = std::make_shared<const plan::Program>(build_and_prove(spec, rank));
  if (entries_.size() >= capacity_) {
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  entries_[key(spec)] = {program, ++clock_};
  return program;
}

std::vector<plan::Piece> Planner::Cache::pieces(const plan::Spec& spec) {
  std::vector<plan::Piece> all = plan::pieces(spec);
  // One proof of the whole per new shape: the pieces' programs are not cached then either.
  if (prove_ && all.size() > 1 && !entries_.contains(key(all.front().spec))) {
    for (const bool in_place : {false, true})
      require(plan::prove(spec, in_place), spec);
  }
  return all;
}

Planner::Planner(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, PlanSource source)
    : settings_(settings),
      rank_(rank),
      ranks_(ranks),
      cache_(std::make_unique<Cache>(std::move(source), cache_capacity(ranks), settings.prove)),
      chooser_(std::make_unique<Chooser>(settings_, ranks)) {
}

Planner::~Planner() = default;

device::host::Arithmetic Planner::arithmetic(const Reduction& call) const {
  return {call.type,
          call.op,
          settings_.contract.order,
          settings_.contract.accumulate,
          call.divisor != 0 ? call.divisor : ranks_,
          call.scalar,
          call.scalar_memory};
}

Choice Planner::choice(const Reduction& call) const {
  return chooser_->choose(call);
}

std::vector<Job> Planner::jobs(const Reduction& call) {
  std::vector<Job> jobs;
  if (call.count == 0) return jobs;
  plan::Spec spec;
  spec.collective = call.collective;
  spec.contract = settings_.contract;
  spec.ranks = ranks_;
  spec.root = call.root;
  spec.stride = call.collective == plan::Collective::reduce_scatter ? call.count : 0;
  const Choice chosen = choice(call);
  spec.schedule = chosen.schedule;
  const std::uint64_t chunk = chosen.chunk;
  const std::size_t size = contract::size_of(call.type);
  if (call.count / chunk >= kMaxJobs) throw std::invalid_argument(kTooManyChunks);

  // Chunk by chunk, and all pieces of a chunk before the next one: pieces progress evenly.
  std::vector<plan::Piece> pieces;
  for (std::uint64_t start = 0; start < call.count; start += chunk) {
    const std::uint64_t count = std::min(chunk, call.count - start);
    if (count != spec.count) {
      spec.count = count;
      pieces = cache_->pieces(spec);
    }
    for (const plan::Piece& piece : pieces) {
      const bool output = piece.spec.collective != plan::Collective::reduce || piece.spec.root == rank_;
      Job job;
      job.program = cache_->get(piece.spec, rank_);
      job.spec = piece.spec;
      job.input = static_cast<const std::byte*>(call.send) + (start + piece.input_offset) * size;
      if (output) job.output = static_cast<std::byte*>(call.receive) + (start + piece.output_offset) * size;
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace detccl::engine
