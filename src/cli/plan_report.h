// SPDX-License-Identifier: Apache-2.0
// What `detccl plan` has to say about a plan, as text or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/plan.h"
#include "plan/prover.h"
#include "plan/summary.h"

namespace detccl::cli {

/// Of a rank.
struct Figures : plan::Cost {
  std::uint64_t connection_bytes = 0;  ///< NCCL's memory for connections to the peers
};

/// Where ranks sit, and what NCCL is told.
struct Machine {
  std::uint32_t near = 8;                 ///< consecutive ranks that reach each other over NVLink
  std::optional<std::uint32_t> channels;  ///< of each peer; see ConnectionMemory
};

struct PlanReport {
  plan::Spec spec;
  Machine machine;
  contract::DataType type = contract::DataType::float32;
  Figures least, most;  ///< over all ranks, each figure for itself
  std::optional<std::uint32_t> rank;
  Figures of_rank;  ///< of `rank`, where there is one
  std::optional<plan::Proof> proof;
  double proof_seconds = 0;
};

/// Counts every rank's program; proves the plan, out of place and in place, if `prove` is set.
PlanReport report_plan(const plan::Spec& spec, contract::DataType type, std::optional<std::uint32_t> rank,
                       bool prove, const Machine& machine = {});

/// Both end with a newline.
std::string to_text(const PlanReport& report);
std::string to_json(const PlanReport& report);

/// 1 if a proof was asked for and failed, else 0.
int exit_status(const PlanReport& report);

}  // namespace detccl::cli
