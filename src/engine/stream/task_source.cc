// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/task_source.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace detccl::engine::stream {
namespace {

/// Prepared programs kept; a communicator seldom has as many shapes, and then they are made anew.
constexpr std::size_t kMostPrepared = 1024;

}  // namespace

TaskSource::TaskSource(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers)
    : planner_(settings, rank, ranks), rank_(rank), ranks_(ranks), gathers_(gathers) {
}

std::shared_ptr<const StreamProgram> TaskSource::prepared(const Job& job,
                                                          const device::host::Arithmetic& arithmetic) {
  const Key key{job.program.get(), contract::size_of(arithmetic.type),
                device::host::element_size(arithmetic, plan::Form::partial)};
  const auto found = prepared_.find(key);
  if (found != prepared_.end()) return found->second;
  auto program =
      std::make_shared<const StreamProgram>(prepare(job.program, job.spec, rank_, arithmetic, gathers_));
  // The entry keeps the plan alive, so that its address stays its own.
  if (prepared_.size() >= kMostPrepared) prepared_.clear();
  prepared_.emplace(key, program);
  return program;
}

void TaskSource::append(const Reduction& call, std::vector<Task>& tasks) {
  const device::host::Arithmetic arithmetic = planner_.arithmetic(call);
  const std::uint64_t wave_bytes = planner_.choice(call).wave_bytes;
  for (const Job& job : planner_.jobs(call)) {
    const std::uint64_t shards = job.spec.collective == plan::Collective::reduce_scatter ? ranks_ : 1;
    Task task{prepared(job, arithmetic), arithmetic, job.input, job.output, 0, 0};
    task.bytes = job.spec.count * shards * contract::size_of(call.type);
    // One rank has nothing to wait for, so nothing to overlap.
    task.wave_bytes = ranks_ == 1 ? std::numeric_limits<std::uint64_t>::max() : wave_bytes;
    tasks.push_back(std::move(task));
  }
}

}  // namespace detccl::engine::stream
