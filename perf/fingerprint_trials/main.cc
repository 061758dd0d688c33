// SPDX-License-Identifier: Apache-2.0
// fingerprint_trials: structured trials of the fingerprint in large numbers (fingerprint_trials --help).
// Exit status: 0, 1 if a difference went unseen or a count is far from chance, 2 for wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "avalanche.h"
#include "birthday.h"
#include "families.h"

namespace {

using namespace detccl::fingerprint_trials;
using nlohmann::json;

/// A count so improbable means a fault: there are some hundred windows.
constexpr double kImprobable = 1e-9;
/// Standard deviations of a cell of the avalanche, of which there are 21,504: one in 10^5 runs.
constexpr double kFar = 6.5;

struct Options {
  std::string mix = "fingerprint";
  std::vector<std::string> names;
  std::uint64_t trials = 10'000'000;
  std::uint64_t payloads = std::uint64_t{1} << 24;
  std::uint64_t flips = 1'000'000;
  std::uint64_t seed = 1;
  std::string json_file;
};

/// The window that is the least probable.
Counts::Window worst(const std::vector<Counts::Window>& windows) {
  return *std::min_element(windows.begin(), windows.end(),
                           [](const auto& a, const auto& b) { return a.probability < b.probability; });
}

json describe(const std::vector<Counts::Window>& windows) {
  json all = json::array();
  for (const auto& w : windows)
    all.push_back(
        {{"bits", w.name}, {"seen", w.zeros}, {"expected", w.expected}, {"probability", w.probability}});
  return all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print(std::string_view name, double number, std::uint64_t both, std::uint64_t a, std::uint64_t b,
           const Counts::Window& w, double seconds) {
  fmt::print("{:17} {:10.3g} {:9} {:9} {:9}   {:17} {:10} {:12.1f} {:9.2g} {:7.1f}\n", name, number, both, a,
             b, w.name, w.zeros, w.expected, w.probability, seconds);
  std::fflush(stdout);
}

class Run {
 public:
  explicit Run(const Options& o) : o_(o) {
    document_ = {
        {"program", "fingerprint_trials"}, {"commit", DETCCL_COMMIT},      {"mix", o.mix}, {"seed", o.seed},
        {"families", json::array()},       {"payload_sets", json::array()}};
  }

  bool all_well() const { return well_; }

  void families() {
    fmt::print("{:17} {:>10} {:>9} {:>9} {:>9}   {:17} {:>10} {:>12} {:>9} {:>7}\n", "trials of", "number",
               "unseen", "a alone", "b alone", "oddest window", "zero", "expected", "chance", "seconds");
    for (const Family& family : detccl::fingerprint_trials::families(o_.mix)) {
      if (!wanted(family.name)) continue;
      Random random(o_.seed);
      Counts counts;
      const auto start = std::chrono::steady_clock::now();
      family.run(random, o_.trials, counts);
      const double seconds = seconds_since(start);
      const auto windows = counts.windows();
      const auto odd = worst(windows);
      print(family.name, static_cast<double>(counts.trials()), counts.collisions(), counts.collisions_a(),
            counts.collisions_b(), odd, seconds);
      document_["families"].push_back({{"name", family.name},
                                       {"what", family.what},
                                       {"trials", counts.trials()},
                                       {"same_sums", counts.collisions()},
                                       {"same_a", counts.collisions_a()},
                                       {"same_b", counts.collisions_b()},
                                       {"windows", describe(windows)},
                                       {"seconds", seconds}});
      judge(counts.collisions_a() + counts.collisions_b(), odd);
    }
  }

  void payload_sets() {
    fmt::print("\n{:17} {:>10} {:>9} {:>9} {:>9}   {:17} {:>10} {:>12} {:>9} {:>7}\n", "all pairs of",
               "pairs", "same sums", "same a", "same b", "oddest window", "same", "expected", "chance",
               "seconds");
    for (const PayloadSet& set : detccl::fingerprint_trials::payload_sets()) {
      if (!wanted(set.name)) continue;
      Random random(o_.seed);
      const auto start = std::chrono::steady_clock::now();
      const Meetings m = meetings(set.make(random, o_.payloads));
      const double seconds = seconds_since(start);
      const auto odd = worst(m.windows);
      print(set.name, m.pairs, m.both, m.a, m.b, odd, seconds);
      document_["payload_sets"].push_back({{"name", set.name},
                                           {"what", set.what},
                                           {"payloads", m.payloads},
                                           {"pairs", m.pairs},
                                           {"same_sums", m.both},
                                           {"same_a", m.a},
                                           {"same_b", m.b},
                                           {"windows", describe(m.windows)},
                                           {"seconds", seconds}});
      judge(m.a + m.b, odd);
    }
  }

  void avalanche() {
    Random random(o_.seed);
    const auto start = std::chrono::steady_clock::now();
    const auto result = std::make_unique<Avalanche>();
    run(random, o_.flips, *result);
    const auto cell = result->farthest();
    fmt::print(
        "\navalanche: {:.3g} flips of each of {} input bits; of {} cells the farthest from one half has "
        "{:.5f} "
        "({:+.2f} standard deviations), all together {:.4f}; {:.1f} seconds\n",
        static_cast<double>(o_.flips), Avalanche::kInputs, Avalanche::kInputs * Avalanche::kOutputs,
        cell.share, cell.deviation, result->spread(), seconds_since(start));
    document_["avalanche"] = {{"flips", o_.flips},
                              {"input_bits", Avalanche::kInputs},
                              {"output_bits", Avalanche::kOutputs},
                              {"farthest",
                               {{"input", cell.input},
                                {"output", cell.output},
                                {"share", cell.share},
                                {"deviation", cell.deviation}}},
                              {"spread", result->spread()},
                              {"seconds", seconds_since(start)}};
    if (std::abs(cell.deviation) > kFar) well_ = false;
    write();
  }

  /// Written anew after every part, so that a run that is cut short leaves what it has.
  void write() const {
    if (o_.json_file.empty()) return;
    std::ofstream out(o_.json_file);
    out << document_.dump(1) << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + o_.json_file);
  }

 private:
  bool wanted(std::string_view name) const {
    return o_.names.empty() || std::find(o_.names.begin(), o_.names.end(), name) != o_.names.end();
  }

  void judge(std::uint64_t same_halves, const Counts::Window& odd) {
    if (same_halves != 0 || odd.probability < kImprobable) well_ = false;
    write();
  }

  const Options& o_;
  json document_;
  bool well_ = true;
};

int parse(Options& o, int argc, char** argv) {
  CLI::App app(
      "Structured trials of the fingerprint: changes that must show, and sums that must look random");
  app.add_option("--mix", o.mix, "whose sums: the fingerprint's or a mix that was not taken")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kMixes), std::end(kMixes))))
      ->capture_default_str();
  app.add_option("--only", o.names, "families and payload sets of these names")->delimiter(',');
  app.add_option("-n,--trials", o.trials, "trials of each family (k, m, g: thousands …)")
      ->transform(CLI::AsSizeValue(true))
      ->capture_default_str();
  app.add_option("--payloads", o.payloads, "payloads of each set, each compared with all others")
      ->check(CLI::Range(std::uint64_t{4096}, std::uint64_t{1} << 28))
      ->capture_default_str();
  app.add_option("--flips", o.flips, "words of which each bit is flipped; 0: none")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--seed", o.seed)->capture_default_str();
  app.add_option("--json", o.json_file, "write the figures to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    if (const int status = parse(options, argc, argv); status >= 0) return status;
    Run all(options);
    all.families();
    if (options.mix == "fingerprint") {
      all.payload_sets();
      if (options.flips != 0 && options.names.empty()) all.avalanche();
    }
    return all.all_well() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fingerprint_trials: %s\n", error.what());
    return 1;
  }
}
