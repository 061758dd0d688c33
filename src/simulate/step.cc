// SPDX-License-Identifier: Apache-2.0
#include "simulate/step.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "simulate/study.h"

namespace detccl::simulate {
namespace {

using Json = nlohmann::json;

double milliseconds(const Json& object, const char* key) {
  const double value = object.value(key, 0.0) * 1e-3;
  if (!(value >= 0)) throw std::invalid_argument(std::string("step: ") + key + " is negative");
  return value;
}

Buckets buckets_of(const Json& object) {
  Buckets b;
  const auto collective = object.value("collective", "reduce_scatter");
  const auto parsed = plan::parse_collective(collective);
  if (!parsed || *parsed == plan::Collective::reduce)
    throw std::invalid_argument("step: no buckets of '" + collective + "'");
  b.collective = *parsed;
  b.bytes = object.at("bytes").get<std::uint64_t>();
  b.ready = milliseconds(object, "ready_ms");
  b.every = milliseconds(object, "every_ms");
  b.count = object.value("count", 1u);
  b.nodes = object.value("nodes", 0u);
  b.gpus = object.value("gpus", 0u);
  if (b.bytes == 0 || b.count == 0) throw std::invalid_argument("step: empty buckets");
  return b;
}

}  // namespace

Step read_step(const std::string& text) {
  Step step;
  try {
    const Json object = Json::parse(text);
    step.name = object.value("name", "step");
    step.assumed = object.value("assumed", "");
    const auto type = contract::parse_data_type(object.value("type", "bfloat16"));
    if (!type) throw std::invalid_argument("step: no such type");
    step.type = *type;
    step.forward = milliseconds(object, "forward_ms");
    step.backward = milliseconds(object, "backward_ms");
    step.optimizer = milliseconds(object, "optimizer_ms");
    for (const Json& buckets : object.at("buckets"))
      step.buckets.push_back(buckets_of(buckets));
  } catch (const Json::exception& e) {
    throw std::invalid_argument(std::string("step: ") + e.what());
  }
  return step;
}

StepTime step_time(const Step& step, const std::vector<double>& seconds) {
  std::vector<std::tuple<double, double>> calls;  // when it is ready, how long it takes
  for (std::size_t i = 0; i < step.buckets.size(); ++i) {
    const Buckets& b = step.buckets[i];
    for (std::uint32_t k = 0; k < b.count; ++k)
      calls.emplace_back(b.ready + k * b.every, seconds[i]);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  StepTime time;
  double end = 0;
  for (const auto& [ready, takes] : calls) {
    end = std::max(end, ready) + takes;
    time.reduced += takes;
  }
  time.exposed = std::max(end - step.backward, 0.0);
  time.step = step.forward + step.backward + time.exposed + step.optimizer;
  return time;
}

StepReport predict_step(const Step& step, const std::vector<plan::Schedule>& schedules,
                        const Options& options) {
  StepReport report;
  report.step = step;
  std::vector<double> native, ours;
  for (const Buckets& b : step.buckets) {
    Options part = options;
    if (b.nodes != 0) part.platform.domains = b.nodes;
    if (b.gpus != 0) part.platform.gpus = b.gpus;
    if (part.platform.ranks() < 2) throw std::invalid_argument("step: a communicator of one rank");
    const Row row = study({b.collective, step.type, b.bytes}, schedules, part, false);
    if (!row.any()) throw std::invalid_argument("step: no prediction for a bucket");
    native.push_back(row.native.seconds);
    ours.push_back(row.ours[row.best].prediction->seconds);
    report.natives.push_back(row.native);
    report.bests.push_back(*row.ours[row.best].prediction);
  }
  report.native = step_time(step, native);
  report.ours = step_time(step, ours);
  return report;
}

}  // namespace detccl::simulate
