// SPDX-License-Identifier: Apache-2.0
// Random collective calls, with inputs that every rank can make for itself, and the reference's results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/reduction.h"

namespace detccl::test {

using Bytes = std::vector<std::byte>;

/// One call, as all ranks see it.
struct Case {
  engine::Settings settings;
  plan::Collective collective = plan::Collective::all_reduce;
  contract::DataType type = contract::DataType::float32;
  contract::Op op = contract::Op::sum;
  std::uint64_t scalar = 0;
  std::uint32_t ranks = 1, root = 0;
  std::uint64_t count = 0;
  bool in_place = false;
  std::size_t misalignment = 0;  ///< bytes by which buffers are off a 64-byte boundary
  std::uint64_t seed = 0;        ///< of the inputs

  std::size_t size() const { return contract::size_of(type); }
  std::uint64_t input_count() const {
    return collective == plan::Collective::reduce_scatter ? count * ranks : count;
  }
};

std::string describe(const Case& c);

using Random = std::mt19937_64;

/// Contracts of every order, accumulation and some blocks, that `schedule` can carry out.
std::vector<contract::Contract> contracts_for(plan::Schedule schedule);

/// Type, operation, count up to `most`, root, chunk, scratch limit, in place or not, alignment, seed.
void randomise(Case& c, Random& random, std::uint64_t most);

/// Rank `rank`'s input: values whose sums depend on their order, with an infinity, NaN or zero now and then.
Bytes input_of(const Case& c, std::uint32_t rank);

/// What rank `rank` gets by the reference evaluator: the result in its output (empty if it has none).
/// `inputs`: all ranks'.
Bytes expected_of(const Case& c, std::uint32_t rank, const std::vector<Bytes>& inputs);

/// A rank's memory for a case: input and output, the same or apart, with guard bytes around them.
class Buffers {
 public:
  Buffers(const Case& c, std::uint32_t rank);
  engine::Reduction call() const;
  Bytes output() const;
  /// What is wrong: a write outside the output, or to an input that is not the output.
  std::string damage() const;

 private:
  std::byte* input() const { return input_memory_.get() + kGuard + case_.misalignment; }
  std::byte* output_start() const;
  bool in_place() const { return case_.in_place && has_output_; }

  static constexpr std::size_t kGuard = 64;
  struct Free {
    void operator()(std::byte* p) const;
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  static Memory allocate(std::size_t bytes);

  Case case_;
  std::uint32_t rank_;
  bool has_output_;
  Bytes original_;
  std::size_t output_bytes_;
  Memory input_memory_, output_memory_;
};

}  // namespace detccl::test
