// SPDX-License-Identifier: Apache-2.0
// The programs of all ranks as flat arrays, eight bytes a transfer, so that tens of millions fit. Regions
// are numbered; each is checked against its rank's buffers when it is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/prover/interner.h"

namespace detccl::plan {

inline std::size_t hash_of(const Region& r) {
  const auto kind = static_cast<std::uint64_t>(r.buffer) << 8 | static_cast<std::uint64_t>(r.form);
  return (prover::Hash() << r.offset << r.count << (std::uint64_t{r.slot} << 16 | kind)).value();
}

}  // namespace detccl::plan

namespace detccl::plan::prover {

/// Where one stage's parts begin; they end where the next stage's begin.
struct FlatStage {
  std::uint32_t rank = 0, sends = 0, receives = 0, folds = 0;
};

struct FlatFold {
  std::uint32_t operands = 0;  ///< the first; they end where the next fold's begin
  std::uint32_t result = 0;
};

/// Regions by number.
struct FlatTransfers {
  std::vector<std::uint32_t> region, peer;
};

struct FlatPrograms {
  Interner<Region> regions;
  std::vector<std::uint32_t> first_stage{0}, first_slot{0};  ///< per rank, and an end
  std::vector<FlatStage> stages{1};                          ///< and an end
  FlatTransfers sends, receives;
  std::vector<FlatFold> folds{1};  ///< and an end
  std::vector<std::uint32_t> operands;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(first_stage.size() - 1); }
  std::uint32_t stage_count() const { return static_cast<std::uint32_t>(stages.size() - 1); }
  /// "rank 3, stage 1".
  std::string where(std::uint32_t stage) const;

  /// Appends the next rank's program. Throws Rejection where a region is not within the rank's buffers, has
  /// the wrong form there or is empty, a fold has no operand or a result as one, or a peer is none.
  void append(const Spec& spec, const Program& program);

 private:
  class Appender;
};

}  // namespace detccl::plan::prover
