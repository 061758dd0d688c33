// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include "gpu_bench/figures.h"

namespace detccl::fold_bench {
namespace {

using nlohmann::json;

using gpu_bench::spread;
using gpu_bench::spread_of_ratios;

}  // namespace

json describe_run(const Options& o) {
  json run = gpu_bench::describe_machine("fold_bench", DETCCL_COMMIT);
  run.update({{"contract", to_string(o.contract)},
              {"limited_blocks", o.blocks},
              {"warmups", o.warmups},
              {"samples", o.samples},
              {"units",
               "GB/s of all bytes read and written, 1 GB = 1e9 bytes; ratios to the copy of the same sample"},
              {"rows", json::array()}});
  return run;
}

json describe_row(const Row& row) {
  const Rates& r = row.rates;
  json j = {{"type", contract::name(row.type)},
            {"op", "sum"},
            {"operands", row.operands},
            {"operand_bytes", row.bytes},
            {"copy_gbps", spread(r.copy, 1e-9)},
            {"fold_gbps", spread(r.fold, 1e-9)},
            {"limited_gbps", spread(r.limited, 1e-9)},
            {"fold_over_copy", spread_of_ratios(r.fold, r.copy)},
            {"limited_over_copy", spread_of_ratios(r.limited, r.copy)}};
  if (!r.all_digested.empty()) {
    j["inputs_digested_time_over_fold"] = spread_of_ratios(r.fold, r.inputs_digested);
    j["all_digested_time_over_fold"] = spread_of_ratios(r.fold, r.all_digested);
  }
  return j;
}

void print_header(const Options& o) {
  fmt::print(
      "# sums, {}; GB/s of bytes read and written: median; ratios to the copy, and of the\n"
      "# fold's time with digests of all operands to that without: min median max\n",
      to_string(o.contract));
  fmt::print("{:>11} {:>3} {:>11} {:>6} {:>6} {:>6}  {:^17}  {:^17}  {:^17}\n", "type", "k", "operand",
             "copy", "fold", fmt::format("{} bl.", o.blocks), "fold/copy", "limited/copy", "digested time");
}

void print_row(const json& row) {
  const auto three = [&](const char* key) -> std::string {
    if (!row.contains(key)) return "-";
    const json& s = row.at(key);
    return fmt::format("{:.3f} {:.3f} {:.3f}", s.at("min").get<double>(), s.at("median").get<double>(),
                       s.at("max").get<double>());
  };
  const auto median = [&](const char* key) { return row.at(key).at("median").get<double>(); };
  fmt::print("{:>11} {:>3} {:>11} {:>6.0f} {:>6.0f} {:>6.0f}  {}  {}  {}\n",
             row.at("type").get<std::string>(), row.at("operands").get<std::uint32_t>(),
             row.at("operand_bytes").get<std::uint64_t>(), median("copy_gbps"), median("fold_gbps"),
             median("limited_gbps"), three("fold_over_copy"), three("limited_over_copy"),
             three("inputs_digested_time_over_fold"));
  std::fflush(stdout);
}

}  // namespace detccl::fold_bench
