// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_summaries.h"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace detccl::cli {
namespace {

using nlohmann::json;
using profile::Sketch;

Sketch read_sketch(const json& j) {
  std::array<std::uint64_t, Sketch::kBuckets> buckets{};
  const json& pairs = j.at("buckets");
  if (pairs.size() % 2 != 0) throw std::runtime_error("buckets are not pairs");
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    buckets.at(pairs[i].get<std::size_t>()) = pairs[i + 1].get<std::uint64_t>();
  Sketch sketch;
  if (!sketch.restore(buckets, j.at("sum_ns"), j.at("square_sum"), j.at("min_ns"), j.at("max_ns")) ||
      sketch.count() != j.at("count").get<std::uint64_t>())
    throw std::runtime_error("a sketch contradicts itself");
  return sketch;
}

void add_times(const Sketch& times, Clock clock, int rank, Operations& operations) {
  if (clock < operations.clock || times.count() == 0) return;
  if (clock > operations.clock) {
    operations.clock = clock;
    operations.times = {};
    operations.ranks.clear();
  }
  operations.times.merge(times);
  operations.ranks.push_back({rank, times.mean(), times.standard_error(), times.count()});
}

RankPairs read_pairs(const json& j) {
  RankPairs found{j.at("count").get<std::uint64_t>(), {}};
  const json& kept = j.at("kept_ns");
  if (kept.size() % 2 != 0) throw std::runtime_error("pairs are not pairs");
  for (std::size_t i = 0; i < kept.size(); i += 2) {
    found.pairs.push_back({kept[i].get<std::uint64_t>(), kept[i + 1].get<std::uint64_t>()});
    if (found.pairs.back().ours == 0 || found.pairs.back().native == 0)
      throw std::runtime_error("a pair without a time");
  }
  if (found.pairs.empty() || found.count < found.pairs.size())
    throw std::runtime_error("pairs contradict their count");
  return found;
}

void add_class(const json& c, int rank, CommunicatorSummary& to) {
  const OperationKey key{c.at("function"), c.at("datatype"), c.at("doubling"), c.at("algorithm"),
                         c.at("protocol")};
  const auto count = c.at("count").get<std::uint64_t>(), bytes = c.at("bytes").get<std::uint64_t>();
  const Sketch gpu = c.contains("gpu") ? read_sketch(c["gpu"]) : Sketch{};
  const Sketch network = c.contains("network") ? read_sketch(c["network"]) : Sketch{};
  Operations& operations = to.operations[key];
  if (count > operations.count) {
    operations.count = count;
    operations.bytes = bytes;
    operations.in_steps = c.value("in_steps", std::uint64_t{0});
  }
  if (c.contains("phases")) {
    for (std::size_t i = 0; i < kPhaseNames.size(); ++i)
      operations.phases[i] = c["phases"].value(std::string(kPhaseNames[i]) + "_ns", 0.0);
  }
  if (c.contains("pairs")) operations.pairs.push_back(read_pairs(c["pairs"]));
  if (c.contains("calibration")) operations.calibration.push_back(read_pairs(c["calibration"]));
  const double steps = to.steps.sum();
  const double mean = gpu.count() != 0 ? gpu.mean() : network.mean();
  if (steps > 0 && operations.in_steps != 0 && mean > 0)
    operations.step_shares.push_back(static_cast<double>(operations.in_steps) * mean / steps);
  if (gpu.count() != 0)
    add_times(gpu, Clock::gpu, rank, operations);
  else
    add_times(network, Clock::network, rank, operations);
}

void add_summary(const json& j, Summaries& summaries) {
  if (!j.is_object() || j.value("format", "") != "detccl-profile-1")
    throw std::runtime_error("not a summary of DetCCL's profiler");
  // Into a copy first: a file that turns out damaged leaves nothing behind. It is the rank's, so small.
  CommunicatorSummary one;
  const int rank = j.at("rank");
  if (j.contains("steps")) one.steps = read_sketch(j["steps"]);
  if (j.contains("not_paired")) one.not_paired = j["not_paired"].get<decltype(one.not_paired)>();
  for (const json& c : j.at("classes"))
    add_class(c, rank, one);
  const std::string host = j.at("host");
  const int size = j.at("ranks");
  const double seconds = j.at("seconds");
  const std::uint64_t dropped = j.at("dropped");
  const std::string name = j.at("name");
  CommunicatorSummary& to = summaries.communicators[j.at("communicator").get<std::string>()];
  to.name = name;
  to.hosts[rank] = host;
  to.size = std::max({to.size, size, static_cast<int>(to.hosts.size())});
  to.seconds = std::max(to.seconds, seconds);
  to.dropped += dropped;
  to.steps.merge(one.steps);
  for (const auto& [reason, count] : one.not_paired)
    to.not_paired[reason] = std::max(to.not_paired[reason], count);
  for (auto& [key, from] : one.operations) {
    Operations& into = to.operations[key];
    if (from.count > into.count) {
      into.count = from.count;
      into.bytes = from.bytes;
      into.in_steps = from.in_steps;
    }
    into.phases.add(from.phases);
    into.pairs.insert(into.pairs.end(), from.pairs.begin(), from.pairs.end());
    into.calibration.insert(into.calibration.end(), from.calibration.begin(), from.calibration.end());
    into.step_shares.insert(into.step_shares.end(), from.step_shares.begin(), from.step_shares.end());
    add_times(from.times, from.clock, rank, into);
  }
}

void read_file(const std::filesystem::path& file, Summaries& summaries) {
  try {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot be opened");
    add_summary(json::parse(stream), summaries);
    ++summaries.files;
  } catch (const json::exception&) {
    summaries.unreadable.push_back(file.string() + ": damaged");
  } catch (const std::exception& e) {
    summaries.unreadable.push_back(file.string() + ": " + e.what());
  }
}

}  // namespace

void PhaseTimes::add(const PhaseTimes& more) {
  for (std::size_t i = 0; i < size(); ++i)
    at(i) += more[i];
}

double PhaseTimes::all() const {
  return std::accumulate(begin(), end(), 0.0);
}

void read_summaries(const std::string& path, Summaries& summaries) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return read_file(path, summaries);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error) summaries.unreadable.push_back(path + ": " + error.message());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    read_file(file, summaries);
}

Cost cost_of(const Operations& operations) {
  const auto& ranks = operations.ranks;
  const auto last = std::min_element(ranks.begin(), ranks.end(),
                                     [](const RankTime& a, const RankTime& b) { return a.mean < b.mean; });
  if (last == ranks.end()) return {};
  double sum = 0;
  for (const RankTime& rank : ranks)
    sum += rank.mean;
  return {last->mean, last->standard_error, sum / static_cast<double>(ranks.size()) - last->mean};
}

}  // namespace detccl::cli
