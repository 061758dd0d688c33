// SPDX-License-Identifier: Apache-2.0
#include "simulate/published.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "simulate/predict.h"

namespace detccl::simulate {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "detccl-published-1";

Native algorithm_of(const std::string& text) {
  if (text == "ring") return Native::ring;
  if (text == "tree") return Native::tree;
  if (text == "best") return Native::best;
  throw std::invalid_argument("published: no algorithm '" + text + "'");
}

Fit fit_of(const Json& run) {
  Options options;
  options.platform.parameters = default_parameters("h200");
  options.platform.parameters.network.bandwidth = run.at("port_gb_s").get<double>() * 1e9;
  options.platform.domains = run.at("nodes").get<std::uint32_t>();
  options.platform.gpus = run.at("gpus").get<std::uint32_t>();
  const Native algorithm = algorithm_of(run.at("algorithm").get<std::string>());
  Fit fit;
  fit.what = "native, published, nothing fitted";
  fit.ranks = options.platform.ranks();
  fit.group = options.platform.parameters.launch;
  fit.bandwidth = options.platform.parameters.network.bandwidth;
  for (const Json& row : run.at("rows")) {
    ValidatedPoint point;
    point.series = run.at("source").get<std::string>();
    point.bytes = row.at("bytes").get<std::uint64_t>();
    point.measured = row.at("us").get<double>() * 1e-6;
    const Case c{plan::Collective::all_reduce, contract::DataType::float32, point.bytes};
    point.predicted = predict_native(c, options, algorithm).seconds;
    fit.points.push_back(point);
  }
  return fit;
}

}  // namespace

bool is_published(const std::string& text) {
  const Json object = Json::parse(text, nullptr, false);
  return object.is_object() && object.value("format", "") == kFormat;
}

Validation validate_published(const std::string& file, const std::string& text) {
  Validation v;
  v.file = file;
  try {
    const Json object = Json::parse(text);
    for (const Json& run : object.at("runs"))
      v.fits.push_back(fit_of(run));
  } catch (const Json::exception& e) {
    throw std::invalid_argument(std::string("published: ") + e.what());
  }
  return v;
}

}  // namespace detccl::simulate
