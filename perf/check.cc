// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <algorithm>
#include <vector>

#include "contract/reference.h"

namespace detccl::perf {
namespace {

constexpr std::uint64_t kSample = 8192;  ///< elements; a result of no more is checked whole
constexpr std::uint64_t kEnd = 512;      ///< of them at either end

std::vector<std::uint64_t> sampled_elements(std::uint64_t count) {
  std::vector<std::uint64_t> elements;
  if (count <= kSample) {
    for (std::uint64_t i = 0; i < count; ++i)
      elements.push_back(i);
    return elements;
  }
  for (std::uint64_t i = 0; i < kEnd; ++i) {
    elements.push_back(i);
    elements.push_back(count - 1 - i);
  }
  const std::uint64_t spread = kSample - 2 * kEnd;
  for (std::uint64_t i = 0; i < spread; ++i) {
    // Evenly over the rest, but never with an even stride: chunk borders would be missed or met alone.
    const std::uint64_t step = (count - 2 * kEnd) / spread;
    elements.push_back(kEnd + i * step + i * 7919 % std::max<std::uint64_t>(step, 1));
  }
  return elements;
}

}  // namespace

void Verdict::add(const Verdict& other) {
  checked += other.checked;
  wrong += other.wrong;
  ranks_agree = ranks_agree && other.ranks_agree;
}

Verdict check_all_reduce(const Job& job, const Options& o, const Values& values,
                         std::span<const std::byte> result) {
  const std::vector<std::uint64_t> elements = sampled_elements(result.size() / contract::size_of(o.type));
  std::vector<std::uint64_t> inputs(static_cast<std::size_t>(job.ranks()));
  std::uint64_t wrong = 0;
  for (const std::uint64_t e : elements) {
    for (std::uint32_t r = 0; r < inputs.size(); ++r)
      inputs[r] = values.bits(r, e);
    if (load(o.type, result, e) != contract::reduce_element(o.contract, o.type, o.op, inputs)) ++wrong;
  }
  Verdict verdict;
  verdict.checked = job.sum_over_ranks(elements.size());
  verdict.wrong = job.sum_over_ranks(wrong);
  verdict.ranks_agree = job.same_on_all(digest(result));
  return verdict;
}

}  // namespace detccl::perf
