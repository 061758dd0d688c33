// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include "device/cuda/fold.h"
#include "gpu_bench/options.h"

namespace detccl::fold_bench {
namespace {

/// The texts' values, by `parse_one`.
template <class T, class ParseOne>
std::vector<T> parse_all(const std::vector<std::string>& texts, const char* what, ParseOne parse_one) {
  std::vector<T> values;
  for (const std::string& text : texts) {
    const auto value = parse_one(text);
    if (!value) throw CLI::ValidationError("'" + text + "' is no " + what);
    values.push_back(*value);
  }
  return values;
}

}  // namespace

Parsed parse(int argc, char** argv) {
  Options o;
  CLI::App app(
      "Speed of ordered folds on a GPU, against device-to-device copies of as many bytes in the same run");
  std::vector<std::string> types;
  std::string contract = to_string(o.contract);
  app.add_option("-b,--begin", o.begin_bytes, "smallest operand, in bytes (K, M, G)")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("64M");
  app.add_option("-e,--end", o.end_bytes, "largest operand")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("256M");
  app.add_option("-t,--types", types, "payload types")
      ->delimiter(',')
      ->default_str("bfloat16,float16,float32");
  app.add_option("-k,--operands", o.operands, "numbers of operands")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, device::cuda::kMaxOperands))
      ->default_str("2,3,4,6,8,12,16");
  app.add_option("-c,--contract", contract, "contract, without blocks")->capture_default_str();
  gpu_bench::add_options(app, o);
  try {
    app.parse(argc, argv);
    if (!types.empty()) o.types = parse_all<contract::DataType>(types, "type", contract::parse_data_type);
    o.contract = parse_all<contract::Contract>({contract}, "contract", contract::parse_contract)[0];
    if (o.begin_bytes < 1024 || o.end_bytes < o.begin_bytes)
      throw CLI::ValidationError("sizes start at 1K, and -e is no less than -b");
  } catch (const CLI::ParseError& error) {
    return {o, app.exit(error) == 0 ? 0 : 2};
  }
  return {o, std::nullopt};
}

}  // namespace detccl::fold_bench
