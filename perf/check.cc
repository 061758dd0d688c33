// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <algorithm>
#include <vector>

#include "contract/reference.h"
#include "parallel.h"

namespace detccl::perf {
namespace {

constexpr std::uint64_t kBlock = 4096;  ///< elements; whole words of the digest in every type

/// What element `element` of rank `rank`'s result must be. `inputs`: for one bit pattern of each rank.
std::uint64_t right_bits(const Expected& x, int rank, std::uint64_t element,
                         std::span<std::uint64_t> inputs) {
  const Source source =
      x.collective.source({rank, static_cast<int>(inputs.size()), x.call.root, x.call.count}, element);
  if (!x.collective.reduces) return x.values.bits(static_cast<std::uint32_t>(source.rank), source.index);
  for (std::uint32_t r = 0; r < inputs.size(); ++r)
    inputs[r] = x.values.bits(r, source.index);
  return contract::reduce_element(x.contract, x.call.type, x.call.op, inputs);
}

/// The digest of elements [begin, end) of what rank `rank` must receive, on this rank's share of the
/// processors.
std::uint64_t right_digest(const Expected& x, int rank, int ranks, std::uint64_t begin, std::uint64_t end) {
  return sum_in_parallel(ranks, begin, end, kBlock, [&](std::uint64_t from, std::uint64_t to) {
    const std::size_t size = contract::size_of(x.call.type);
    std::vector<std::uint64_t> inputs(static_cast<std::size_t>(ranks));
    std::vector<std::byte> block(kBlock * size);
    std::uint64_t sum = 0;
    for (std::uint64_t at = from; at < to; at += kBlock) {
      const std::uint64_t count = std::min(kBlock, to - at);
      for (std::uint64_t i = 0; i < count; ++i)
        store(x.call.type, block, i, right_bits(x, rank, at + i, inputs));
      sum += digest({block.data(), count * size}, at * size);
    }
    return sum;
  });
}

/// Of what every rank, or the root, receives, `count` elements: each rank evaluates some blocks.
std::uint64_t shared_right_digest(Job& job, const Expected& x, std::uint64_t count) {
  const auto rank = static_cast<std::uint64_t>(job.rank()), ranks = static_cast<std::uint64_t>(job.ranks());
  const std::uint64_t blocks = (count + kBlock - 1) / kBlock;
  const std::uint64_t begin = blocks * rank / ranks * kBlock, end = blocks * (rank + 1) / ranks * kBlock;
  return job.sum_over_ranks(
      right_digest(x, x.call.root, job.ranks(), std::min(begin, count), std::min(end, count)));
}

}  // namespace

void Verdict::add(const Verdict& other) {
  checked += other.checked;
  wrong_ranks += other.wrong_ranks;
  ranks_agree = ranks_agree && other.ranks_agree;
}

std::uint64_t parallel_digest(int ranks, std::span<const std::byte> data) {
  return sum_in_parallel(ranks, 0, data.size(), kBlock * 8, [&](std::uint64_t from, std::uint64_t to) {
    return digest(data.subspan(from, to - from), from);
  });
}

Verdict check_result(Job& job, const Expected& x, std::span<const std::byte> result) {
  const std::uint64_t count = x.call.count * x.collective.received_parts(job.ranks());
  const Receivers receivers = x.collective.receivers;
  const std::uint64_t right = receivers == Receivers::each_its_own
                                  ? right_digest(x, job.rank(), job.ranks(), 0, count)
                                  : shared_right_digest(job, x, count);
  const bool receives = receivers != Receivers::root || job.rank() == x.call.root;
  const std::uint64_t mine = receives ? parallel_digest(job.ranks(), result) : right;
  Verdict verdict;
  verdict.checked = receivers == Receivers::root ? 1 : static_cast<std::uint64_t>(job.ranks());
  verdict.wrong_ranks = job.sum_over_ranks(mine != right ? 1 : 0);
  if (receivers == Receivers::all_the_same) {
    const std::vector<std::uint64_t> all = job.gather(mine);
    verdict.ranks_agree = std::all_of(all.begin(), all.end(), [&](std::uint64_t d) { return d == all[0]; });
  }
  return verdict;
}

}  // namespace detccl::perf
