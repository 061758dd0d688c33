// SPDX-License-Identifier: Apache-2.0
#include "plan/tuner/coefficients.h"

#include <bit>
#include <stdexcept>

namespace detccl::plan::tuner {
namespace {

using C = Coefficients;

constexpr double kMicro = 1e-6, kGiga = 1e9, kKilo = 1024;
/// Wide enough for any machine, narrow enough that no sum overflows or becomes nothing.
constexpr double kLongest = 1e9, kSlowest = 1e-6, kFastest = 1e6;

template <auto kFigure, std::size_t kKind>
double& of(C& c) {
  return (c.*kFigure)[kKind];
}

constexpr std::array<Figure, kFigures> kTable{{
    {"call_us", kMicro, 0, kLongest, [](C& c) -> double& { return c.call; }},
    {"step_us", kMicro, 0, kLongest, [](C& c) -> double& { return c.step; }},
    {"message_us", kMicro, 0, kLongest, [](C& c) -> double& { return c.message; }},
    {"near_latency_us", kMicro, 0, kLongest, [](C& c) -> double& { return c.near.latency; }},
    {"near_gb_s", kGiga, kSlowest, kFastest, [](C& c) -> double& { return c.near.bandwidth; }},
    {"far_latency_us", kMicro, 0, kLongest, [](C& c) -> double& { return c.far.latency; }},
    {"far_gb_s", kGiga, kSlowest, kFastest, [](C& c) -> double& { return c.far.bandwidth; }},
    {"fold_launch_us", kMicro, 0, kLongest, [](C& c) -> double& { return c.fold_launch; }},
    {"fold_gb_s", kGiga, kSlowest, kFastest, [](C& c) -> double& { return c.fold_bandwidth; }},
    {"overlap", 1, 0, 1, [](C& c) -> double& { return c.overlap; }},
    {"processors", 1, 0, 65536, [](C& c) -> double& { return c.processors; }},
    {"cache_kb", kKilo, 0, kLongest, [](C& c) -> double& { return c.cache; }},
    {"beyond_cache", 1, 1, 1000, [](C& c) -> double& { return c.beyond_cache; }},
    {"gather_factor", 1, 0.001, 1000, of<&C::factors, 0>},
    {"direct_factor", 1, 0.001, 1000, of<&C::factors, 1>},
    {"ring_factor", 1, 0.001, 1000, of<&C::factors, 2>},
    {"tree_factor", 1, 0.001, 1000, of<&C::factors, 3>},
    {"halving_factor", 1, 0.001, 1000, of<&C::factors, 4>},
    {"hier_factor", 1, 0.001, 1000, of<&C::factors, 5>},
    {"gather_error", 1, 0, 1, of<&C::errors, 0>},
    {"direct_error", 1, 0, 1, of<&C::errors, 1>},
    {"ring_error", 1, 0, 1, of<&C::errors, 2>},
    {"tree_error", 1, 0, 1, of<&C::errors, 3>},
    {"halving_error", 1, 0, 1, of<&C::errors, 4>},
    {"hier_error", 1, 0, 1, of<&C::errors, 5>},
}};

Coefficients h200() {
  Coefficients c;
  c.name = "h200";
  c.source =
      "NVLink 18 x 20.6 GB/s, hops and launches: NCCL's tuning constants; port 400 Gb/s line rate; folds "
      "measured on one H200 (perf/results/fold_h200.json); a message: all-to-all of 1 KB by 2 and 8 ranks on "
      "one H200; "
      "launch of a fold assumed";
  c.step = 8.4 * kMicro;
  c.message = 1.2 * kMicro;
  c.near = {3.4 * kMicro, 370.8 * kGiga};
  c.far = {14 * kMicro, 50 * kGiga};
  c.fold_launch = 4 * kMicro;
  c.fold_bandwidth = 4050 * kGiga;
  c.overlap = 1;
  return c;
}

Coefficients gb200() {
  Coefficients c = h200();
  c.name = "gb200";
  c.source =
      "NVLink 18 x 40.1 GB/s, hops and launches: NCCL's tuning constants; port 400 Gb/s line rate; folds: "
      "8 TB/s of memory at the part of it that they reach on an H200, not measured";
  c.near.bandwidth = 721.8 * kGiga;
  c.fold_bandwidth *= 8.0 / 4.8;
  return c;
}

Coefficients host() {
  Coefficients c;
  c.name = "host";
  c.source =
      "bandwidths: what perf/results/host_all_reduce_n2.json and _n4.json give on two cores; the rest "
      "assumed";
  c.call = 10 * kMicro;
  c.step = 5 * kMicro;
  c.message = 1 * kMicro;
  c.near = {10 * kMicro, 8 * kGiga};
  c.far = {30 * kMicro, 2 * kGiga};
  c.fold_bandwidth = 8 * kGiga;
  c.processors = 2;
  return c;
}

}  // namespace

std::span<const Figure, kFigures> figures() {
  return kTable;
}

std::uint64_t hash(const Coefficients& c) {
  std::uint64_t all = 0xcbf29ce484222325u;
  for (const Figure& figure : kTable) {
    const double number = value(figure, c);
    const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);  // -0 is 0
    for (unsigned shift = 0; shift < 64; shift += 8)
      all = (all ^ (bits >> shift & 0xff)) * 0x100000001b3u;
  }
  return all;
}

Coefficients built_in(std::string_view name) {
  if (name == "h200") return h200();
  if (name == "gb200") return gb200();
  if (name == "host") return host();
  throw std::invalid_argument("no figures '" + std::string(name) + "': " + std::string(kBuiltInNames));
}

}  // namespace detccl::plan::tuner
