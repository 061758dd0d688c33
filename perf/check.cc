// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <algorithm>
#include <vector>

#include "contract/reference.h"
#include "parallel.h"

namespace detccl::perf {
namespace {

constexpr std::uint64_t kBlock = 4096;  ///< elements; whole words of the digest in every type

/// The digest of the reference's results for elements [begin, end) of the inputs; its word number 0 is at
/// `origin`.
std::uint64_t reference_digest(const Expected& x, int ranks, std::uint64_t begin, std::uint64_t end,
                               std::uint64_t origin) {
  const std::size_t size = contract::size_of(x.call.type);
  std::vector<std::uint64_t> inputs(static_cast<std::size_t>(ranks));
  std::vector<std::byte> block(kBlock * size);
  std::uint64_t sum = 0;
  for (std::uint64_t at = begin; at < end; at += kBlock) {
    const std::uint64_t count = std::min(kBlock, end - at);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::uint32_t r = 0; r < inputs.size(); ++r)
        inputs[r] = x.values.bits(r, at + i);
      store(x.call.type, block, i, contract::reduce_element(x.contract, x.call.type, x.call.op, inputs));
    }
    sum += digest({block.data(), count * size}, (at - origin) * size);
  }
  return sum;
}

/// As reference_digest, on this rank's share of the processors.
std::uint64_t parallel_reference_digest(const Expected& x, int ranks, std::uint64_t begin, std::uint64_t end,
                                        std::uint64_t origin) {
  return sum_in_parallel(ranks, begin, end, kBlock, [&](std::uint64_t from, std::uint64_t to) {
    return reference_digest(x, ranks, from, to, origin);
  });
}

/// Of what every rank, or the root, receives: each rank evaluates some blocks.
std::uint64_t shared_reference_digest(Job& job, const Expected& x) {
  const auto rank = static_cast<std::uint64_t>(job.rank()), ranks = static_cast<std::uint64_t>(job.ranks());
  const std::uint64_t blocks = (x.call.count + kBlock - 1) / kBlock;
  const std::uint64_t begin = blocks * rank / ranks * kBlock, end = blocks * (rank + 1) / ranks * kBlock;
  return job.sum_over_ranks(parallel_reference_digest(x, job.ranks(), std::min(begin, x.call.count),
                                                      std::min(end, x.call.count), 0));
}

/// digest(), on this rank's share of the processors.
std::uint64_t parallel_digest(int ranks, std::span<const std::byte> result) {
  return sum_in_parallel(ranks, 0, result.size(), kBlock * 8, [&](std::uint64_t from, std::uint64_t to) {
    return digest(result.subspan(from, to - from), from);
  });
}

}  // namespace

void Verdict::add(const Verdict& other) {
  checked += other.checked;
  wrong_ranks += other.wrong_ranks;
  ranks_agree = ranks_agree && other.ranks_agree;
}

Verdict check_result(Job& job, const Expected& x, std::span<const std::byte> result) {
  std::uint64_t right = 0;
  if (x.collective.scatters) {
    const std::uint64_t begin = static_cast<std::uint64_t>(job.rank()) * x.call.count;
    right = parallel_reference_digest(x, job.ranks(), begin, begin + x.call.count, begin);
  } else {
    right = shared_reference_digest(job, x);
  }
  const bool receives = !x.collective.rooted || job.rank() == x.call.root;
  const std::uint64_t mine = receives ? parallel_digest(job.ranks(), result) : right;
  Verdict verdict;
  verdict.checked = x.collective.rooted ? 1 : static_cast<std::uint64_t>(job.ranks());
  verdict.wrong_ranks = job.sum_over_ranks(mine != right ? 1 : 0);
  if (!x.collective.scatters && !x.collective.rooted) {
    const std::vector<std::uint64_t> all = job.gather(mine);
    verdict.ranks_agree = std::all_of(all.begin(), all.end(), [&](std::uint64_t d) { return d == all[0]; });
  }
  return verdict;
}

}  // namespace detccl::perf
