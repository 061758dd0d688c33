// SPDX-License-Identifier: Apache-2.0
// What the buffers of all ranks hold. A scratch slot holds runs of the message's elements, each with one
// expression: nearly always one run, from its start. The output needs no expressions: only the contract's
// result for the very elements may be written there, once, so that a cell is either written or not; and an
// input that is the output too is overwritten where it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "plan/prover/expressions.h"
#include "plan/prover/flat_programs.h"

namespace detccl::plan::prover {

/// Elements of the message; of a reduce_scatter's, one shard after the other.
struct Span {
  std::uint64_t begin = 0, count = 0;
  friend bool operator==(const Span&, const Span&) = default;
  friend std::size_t hash_of(const Span& s) { return (Hash() << s.begin << s.count).value(); }
};

/// The expression that each element of a span has.
struct Value {
  Expression expression = 0;
  std::uint32_t span = 0;  ///< its number

  friend bool operator==(const Value&, const Value&) = default;
};

/// In place of an expression: the contract's result.
inline constexpr Expression kResult = 0xfffffffeu;

/// All functions throw Rejection with the region and what is wrong. Regions are numbers of `flat.regions`.
class Memory {
 public:
  /// `flat` must outlive it.
  Memory(const FlatPrograms& flat, const Spec& spec, bool in_place);

  Value read(std::uint32_t rank, std::uint32_t region);
  /// A stage with a receive into this region begins: what was there is gone.
  void expect(std::uint32_t rank, std::uint32_t region);
  /// What an expected region receives.
  void arrive(std::uint32_t rank, std::uint32_t region, Value value);
  /// A fold's result.
  void write(std::uint32_t rank, std::uint32_t region, Value value);
  /// Every output must be complete.
  void check_outputs() const;

  std::uint64_t count(Value value) const { return spans_[value.span].count; }

 private:
  /// What is the same for a region wherever it is; cells are those of the output that it consists of.
  struct Facts {
    std::uint32_t span = 0, first_cell = 0, end_cell = 0;
  };
  /// A run of a slot's elements.
  struct Run {
    std::uint64_t begin = 0, end = 0;  ///< in the slot
    Value value;
  };
  /// kSeveral: the value's other number is that of a list of runs.
  static constexpr Expression kNothing = 0xffffffffu, kArriving = 0xfffffffdu, kSeveral = 0xfffffffcu;

  std::uint8_t* cells(std::uint32_t rank) { return written_.data() + rank * cell_count_; }
  /// Where the output of `rank` begins, in elements of the message and in the input.
  std::uint64_t output_begin(std::uint32_t rank) const;
  std::uint64_t output_place(std::uint32_t rank) const;
  Span span_of_input(const Region& region) const;
  bool overwritten(std::uint32_t rank, const Region& region) const;
  Value& slot(std::uint32_t rank, const Region& region) {
    return slots_[flat_.first_slot[rank] + region.slot];
  }
  Value read_slot(std::uint32_t rank, const Region& region);
  /// Puts `value` where the region is.
  void put(std::uint32_t rank, const Region& region, Value value);
  void put_run(std::vector<Run>& list, const Run& run);
  void join(std::vector<Run>& list, std::size_t i);
  /// A slot's runs, ascending; `one`: room for the only one.
  std::span<const Run> runs(Value slot, Run& one) const;
  static std::size_t first_run(std::span<const Run> list, std::uint64_t at);
  void check_place(std::uint32_t rank, const Region& region, Value value) const;

  const FlatPrograms& flat_;
  const Spec spec_;
  const bool in_place_;
  Interner<Span> spans_;
  std::vector<Facts> facts_;  ///< by region
  std::vector<Value> slots_;  ///< by rank and slot: what it holds from its start, or kSeveral
  std::vector<std::vector<Run>> several_;
  std::vector<std::uint32_t> unused_;  ///< lists of several_ that are free
  std::vector<std::uint64_t> cuts_;    ///< cell c is [cuts_[c], cuts_[c+1]) of an output
  std::size_t cell_count_ = 0;
  std::vector<std::uint8_t> written_;      ///< by rank and cell
  std::vector<std::uint8_t> any_written_;  ///< by rank
};

}  // namespace detccl::plan::prover
