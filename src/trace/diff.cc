// SPDX-License-Identifier: Apache-2.0
#include "trace/diff.h"

#include <utility>

#include "trace/counterparts.h"
#include "trace/folder.h"

namespace detccl::trace {
namespace {

void keep(RankFiles& files, const std::optional<std::uint32_t>& rank) {
  if (rank) std::erase_if(files, [&rank](const auto& entry) { return entry.first != *rank; });
}

std::vector<std::uint32_t> not_in(const RankFiles& files, const RankFiles& others) {
  std::vector<std::uint32_t> ranks;
  for (const auto& [rank, paths] : files) {
    if (!others.contains(rank)) ranks.push_back(rank);
  }
  return ranks;
}

RankDiff diff_files(std::uint32_t rank, const std::vector<std::string>& a, const std::vector<std::string>& b,
                    const DiffOptions& options) {
  RankDiff failed;
  failed.rank = rank;
  const auto trace_a = RankTrace::open(a, failed.unusable);
  if (!trace_a) return failed;
  const auto trace_b = RankTrace::open(b, failed.unusable);
  if (!trace_b) return failed;
  RankDiff diff = diff_rank(*trace_a, *trace_b, options);
  if (diff.by_rollups) return diff;
  auto keys = counterparts(trace_a->communicators(), trace_b->communicators());
  if (keys.empty()) return diff;
  trace_b->rename(std::move(keys));
  diff = diff_rank(*trace_a, *trace_b, options);
  diff.notes.emplace_back(
      "the members of some communicators are known to one of the two only; compared by their order, size and "
      "name");
  return diff;
}

void judge(RunDiff& diff) {
  std::string reason;
  for (const RankDiff& rank : diff.ranks) {
    if (!rank.unusable.empty() && reason.empty()) {
      reason = "rank " + std::to_string(rank.rank) + ": " + rank.unusable;
    }
    diff.operations += rank.operations;
  }
  if (!diff.findings.empty()) {
    diff.verdict = Verdict::different;
  } else if (!reason.empty()) {
    diff.reason = reason;
  } else if (!diff.only_a.empty() || !diff.only_b.empty()) {
    diff.reason = "some ranks are traced in one of the two only";
  } else if (diff.operations == 0) {
    diff.reason = "there are no operations to compare";
  } else {
    diff.verdict = Verdict::same;
  }
}

}  // namespace

RunDiff diff_runs(const std::string& a, const std::string& b, const std::optional<std::uint32_t>& rank,
                  const DiffOptions& options) {
  RunDiff diff;
  RankFiles files_a = list_ranks(a, diff.reason);
  RankFiles files_b = list_ranks(b, diff.reason);
  if (files_a.empty() || files_b.empty()) return diff;
  keep(files_a, rank);
  keep(files_b, rank);
  if (files_a.empty() && files_b.empty()) {
    diff.reason = "rank " + std::to_string(rank.value_or(0)) + " is in neither trace";
    return diff;
  }
  diff.only_a = not_in(files_a, files_b);
  diff.only_b = not_in(files_b, files_a);
  std::vector<std::uint32_t> ranks;
  for (const auto& [number, paths] : files_a) {
    if (files_b.contains(number)) ranks.push_back(number);
  }
  diff.ranks.resize(ranks.size());
  in_parallel(ranks.size(), [&](std::size_t i) {
    diff.ranks[i] = diff_files(ranks[i], files_a.at(ranks[i]), files_b.at(ranks[i]), options);
  });
  std::vector<Candidate> candidates;
  for (RankDiff& r : diff.ranks) {
    if (r.candidate) candidates.push_back(std::move(*std::exchange(r.candidate, {})));
  }
  diff.findings = find_causes(std::move(candidates), [&files_a](std::uint32_t number) {
    std::string ignored;
    return RankTrace::open(files_a.at(number), ignored);
  });
  judge(diff);
  return diff;
}

}  // namespace detccl::trace
