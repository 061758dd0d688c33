// SPDX-License-Identifier: Apache-2.0
#include "scaling_bench/measure.h"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "engine/reduction.h"
#include "nccl_api/hello.h"
#include "nccl_api/topology.h"
#include "plan/prover.h"
#include "trace_generator/synthetic_run.h"

namespace detccl::perf::scaling {
namespace {

constexpr std::uint32_t kNear = 8;  ///< ranks of a host

engine::Settings settings_of(plan::Schedule schedule) {
  engine::Settings settings;
  settings.schedule = schedule;
  return settings;
}

std::size_t heap_bytes() {
  return mallinfo2().uordblks;
}

Planning plan_calls_of(plan::Schedule schedule, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                       int repeats) {
  engine::Reduction call;  // no memory is touched: the jobs are not run
  call.count = bytes / sizeof(float);
  std::vector<double> first, later;
  Planning planning;
  for (int i = 0; i < repeats; ++i) {
    const std::size_t before = heap_bytes();
    auto start = Clock::now();
    engine::Planner planner(settings_of(schedule), rank, ranks);
    std::vector<engine::Job> jobs = planner.jobs(call);
    first.push_back(seconds_since(start) * 1e6);
    start = Clock::now();
    planning.chunks = planner.jobs(call).size();
    later.push_back(seconds_since(start) * 1e6);
    const std::size_t of_call = jobs.capacity() * sizeof(engine::Job);  // goes with the call
    planning.heap = std::max(planning.heap, heap_bytes() - before - of_call);
    planning.transfers = 0;
    for (const plan::Stage& stage : jobs.front().program->stages)
      planning.transfers += stage.sends.size() + stage.receives.size();
  }
  planning.first_us = median(first);
  planning.later_us = median(later);
  return planning;
}

/// A folder that goes with its object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "scaling_bench.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Planning plan_calls(plan::Schedule schedule, std::uint32_t ranks, std::uint64_t bytes, int repeats) {
  Planning most;
  for (const std::uint32_t rank : {0u, ranks / 2, ranks - 1}) {
    const Planning own = plan_calls_of(schedule, rank, ranks, bytes, repeats);
    most.first_us = std::max(most.first_us, own.first_us);
    most.later_us = std::max(most.later_us, own.later_us);
    most.heap = std::max(most.heap, own.heap);
    most.chunks = own.chunks;
    most.transfers = std::max(most.transfers, own.transfers);
  }
  return most;
}

double prove_seconds(plan::Schedule schedule, std::uint32_t ranks, std::uint64_t bytes) {
  plan::Spec spec;
  spec.schedule = schedule;
  spec.ranks = ranks;
  spec.count = bytes / sizeof(float);
  const auto start = Clock::now();
  const plan::Proof proof = plan::prove(spec, true);
  if (!proof.proved) throw std::runtime_error("not proved: " + proof.failure);
  return seconds_since(start);
}

Agreement agree(std::uint32_t ranks, int repeats) {
  const nccl_api::Hello own = nccl_api::make_hello(nccl_api::Configuration{}, 0, "");
  std::vector<nccl_api::Hello> hellos(ranks, own);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    hellos[rank].host += rank / kNear;
    hellos[rank].process = rank;
    hellos[rank].job_rank = rank;
  }
  Agreement agreement;
  agreement.bytes = hellos.size() * sizeof(nccl_api::Hello);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    if (nccl_api::find_disagreement(hellos) || nccl_api::find_problem(hellos))
      throw std::runtime_error("ranks that say the same disagree");
    std::vector<std::uint64_t> hosts;
    for (const nccl_api::Hello& hello : hellos)
      hosts.push_back(hello.host);
    agreement.group = nccl_api::find_groups(hosts).group;
    times.push_back(seconds_since(start) * 1e6);
  }
  agreement.us = median(times);
  return agreement;
}

Trace trace_size(std::uint32_t ranks) {
  constexpr std::uint32_t kOperations = 20, kFewSteps = 50, kManySteps = 550;
  const auto write = [&](std::uint32_t steps, double& seconds) {
    const Folder folder;
    const Shape shape{ranks, steps, kOperations, kNear, 0};
    auto records = operations_of(shape, ranks - 1);
    fill_digests(records, ranks - 1, 1);
    const auto start = Clock::now();
    const std::string path = write_rank(folder.path(), shape, ranks - 1, records);
    seconds = seconds_since(start);
    return std::filesystem::file_size(path);
  };
  double few_seconds = 0, many_seconds = 0;
  const auto few = static_cast<double>(write(kFewSteps, few_seconds));
  const auto many = static_cast<double>(write(kManySteps, many_seconds));
  Trace trace;
  constexpr double kMore = double{kManySteps - kFewSteps} * kOperations;
  trace.bytes_per_record = (many - few) / kMore;
  trace.fixed_bytes = static_cast<std::size_t>(few - trace.bytes_per_record * kFewSteps * kOperations);
  trace.us_per_record = many_seconds * 1e6 / (double{kManySteps} * kOperations);
  return trace;
}

}  // namespace detccl::perf::scaling
