// SPDX-License-Identifier: Apache-2.0
// Carries out batches of stream programs over virtual ranks in this process, on host memory. All ranks turn
// to the same tick of a lane together; within what a stream leaves open, the order is random.
#pragma once

#include <string>
#include <vector>

#include "cases.h"

namespace detccl::test {

struct StreamResults {
  std::vector<std::vector<Bytes>> outputs;  ///< by case and rank; empty where a rank has none
  std::string failure;                      ///< empty if all went well
  bool overlapped = false;
  std::size_t lanes = 1;
};

/// Each rank's calls, in one batch; `outputs` stay empty.
StreamResults run_calls(const engine::Settings& settings,
                        const std::vector<std::vector<engine::Reduction>>& calls, bool gathers,
                        Random& random);

/// The cases, which have the same ranks and settings, in one batch. `gathers`: whether all-gathers are used.
StreamResults run_streams(const std::vector<Case>& cases, bool gathers, Random& random);

/// Runs them and compares every rank with the reference. Returns what is wrong, or nothing.
std::string check_streams(const std::vector<Case>& cases, bool gathers, Random& random);

}  // namespace detccl::test
