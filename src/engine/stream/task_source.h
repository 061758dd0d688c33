// SPDX-License-Identifier: Apache-2.0
// From a collective call to the tasks of a batch; programs are prepared once and kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/reduction.h"
#include "engine/stream/batch.h"

namespace detccl::engine::stream {

class TaskSource {
 public:
  /// Of rank `rank` of `ranks`. `gathers`: whether all-gathers may be used, the same on every rank.
  TaskSource(const Settings& settings, std::uint32_t rank, std::uint32_t ranks, bool gathers);

  /// Appends the tasks of `call`. Throws as Planner::jobs().
  void append(const Reduction& call, std::vector<Task>& tasks);
  const Planner& planner() const { return planner_; }

 private:
  using Key =
      std::tuple<const plan::Program*, std::size_t, std::size_t>;  ///< and sizes of payload and partials

  std::shared_ptr<const StreamProgram> prepared(const Job& job, const device::host::Arithmetic& arithmetic);

  Planner planner_;
  std::uint32_t rank_, ranks_;
  bool gathers_;
  std::map<Key, std::shared_ptr<const StreamProgram>> prepared_;
};

}  // namespace detccl::engine::stream
