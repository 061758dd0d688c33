// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/trace_fields.h"
#include "trace/folder.h"
#include "trace/rank_trace.h"

namespace detccl::cli {
namespace {

/// Of a file without an index: by going through it.
std::uint64_t count_gaps(const trace::Reader& part) {
  trace::RecordCursor cursor(part, part.first_offset(), 0);
  std::vector<trace::Record> records;
  std::uint64_t expected = 0, lost = 0;
  while (cursor.next(records)) {
    for (const trace::Record& record : records) {
      lost += record.sequence - expected;
      expected = record.sequence + 1;
    }
  }
  return lost;
}

RankListing list_rank(std::uint32_t rank, const std::vector<std::string>& paths) {
  RankListing listing;
  listing.rank = rank;
  const auto trace = trace::RankTrace::open(paths, listing.problem);
  if (!trace) return listing;
  const trace::RunInfo& run = trace->run();
  listing.world_size = run.world_size;
  listing.host = run.host;
  listing.version = run.version;
  listing.contract = run.contract;
  listing.parts = static_cast<std::uint32_t>(trace->parts().size());
  listing.whole = trace->parts().back()->closed();
  std::set<std::uint64_t> communicators;
  for (const auto& part : trace->parts()) {
    listing.bytes += part->bytes();
    listing.lost += lost_records(*part);
    for (const trace::Communicator& communicator : part->tables().communicators) {
      communicators.insert(communicator.key);
    }
  }
  listing.communicators = communicators.size();
  const auto entries = trace->entries();
  if (!entries) listing.problem = "too many steps for an index";
  for (const trace::RankEntry& entry : entries.value_or(std::vector<trace::RankEntry>())) {
    listing.operations += entry.rollup.count;
    if (entry.rollup.step == trace::kNoStep) continue;
    listing.first_step = std::min(listing.first_step.value_or(entry.rollup.step), entry.rollup.step);
    listing.last_step = std::max(listing.last_step.value_or(0), entry.rollup.step);
  }
  return listing;
}

std::string state(const RankListing& r) {
  if (!r.problem.empty()) return r.problem;
  std::string text = r.whole ? "whole" : "truncated";
  if (r.lost != 0) text += fmt::format(", {} lost", r.lost);
  return text;
}

}  // namespace

std::uint64_t lost_records(const trace::Reader& part) {
  return part.end() ? part.end()->count : count_gaps(part);
}

std::vector<RankListing> list_trace(const std::string& path, std::string& error) {
  const trace::RankFiles files = trace::list_ranks(path, error);
  std::vector<std::uint32_t> ranks;
  for (const auto& [rank, paths] : files) {
    ranks.push_back(rank);
  }
  std::vector<RankListing> listing(ranks.size());
  trace::in_parallel(ranks.size(),
                     [&](std::size_t i) { listing[i] = list_rank(ranks[i], files.at(ranks[i])); });
  return listing;
}

std::vector<std::string> listing_notes(const std::vector<RankListing>& ranks) {
  std::set<std::uint32_t> sizes;
  for (const RankListing& r : ranks) {
    if (r.world_size != 0) sizes.insert(r.world_size);
  }
  if (sizes.size() > 1) {
    return {fmt::format("these are files of jobs of {} ranks: a job's trace wants a folder of its own",
                        fmt::join(sizes, " and "))};
  }
  if (sizes.empty() || ranks.size() >= *sizes.begin()) return {};
  return {
      fmt::format("{} of the job's {} ranks have no file", *sizes.begin() - ranks.size(), *sizes.begin())};
}

std::string listing_text(const std::vector<RankListing>& ranks) {
  std::string text =
      fmt::format("{:>6} {:>6} {:>5} {:>13} {:>12} {:>13} {:>12}  {:<16} {}\n", "rank", "ranks", "files",
                  "steps", "operations", "communicators", "bytes", "host", "state");
  for (const RankListing& r : ranks) {
    const std::string steps =
        r.first_step ? fmt::format("{}-{}", *r.first_step, r.last_step.value_or(0)) : std::string("none");
    text += fmt::format("{:>6} {:>6} {:>5} {:>13} {:>12} {:>13} {:>12}  {:<16} {}\n", r.rank, r.world_size,
                        r.parts, steps, r.operations, r.communicators, r.bytes, printable(r.host), state(r));
  }
  for (const std::string& note : listing_notes(ranks)) {
    text += "note: " + note + "\n";
  }
  return text;
}

std::string listing_json(const std::vector<RankListing>& ranks) {
  auto list = nlohmann::json::array();
  for (const RankListing& r : ranks) {
    nlohmann::json entry = {{"rank", r.rank},
                            {"world_size", r.world_size},
                            {"files", r.parts},
                            {"host", r.host},
                            {"version", r.version},
                            {"contract", r.contract},
                            {"operations", r.operations},
                            {"communicators", r.communicators},
                            {"bytes", r.bytes},
                            {"lost", r.lost},
                            {"whole", r.whole}};
    entry["first_step"] = r.first_step ? nlohmann::json(*r.first_step) : nlohmann::json();
    entry["last_step"] = r.last_step ? nlohmann::json(*r.last_step) : nlohmann::json();
    if (!r.problem.empty()) entry["problem"] = r.problem;
    list.push_back(std::move(entry));
  }
  return dump(list);
}

}  // namespace detccl::cli
