// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace trainer {
namespace {

template <typename... Args>
std::string print(const char* format, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

std::string hex(std::uint64_t value) {
  return print("%016llx", static_cast<unsigned long long>(value));
}

}  // namespace

std::string step_line(const Step& step) {
  return print("step %llu loss %a weights ", static_cast<unsigned long long>(step.number), step.loss) +
         hex(step.digest);
}

std::string summary(const Result& r) {
  return "weights " + hex(r.digest) +
         print(" on all %d rank(s), loss %.6f, test accuracy %.1f %%, %.2f s", r.ranks, r.steps.back().loss,
               100.0 * r.accuracy, r.seconds);
}

std::string json(const Result& r, const Options& o) {
  nlohmann::ordered_json document = {
      {"program", "trainer"},
      {"version", DETCCL_VERSION},
      {"nccl", r.nccl},
      {"device", r.device},
      {"ranks", r.ranks},
      {"options",
       {{"batch", o.batch},
        {"bucket_bytes", o.bucket_bytes},
        {"group", o.group},
        {"seed", o.seed},
        {"gradients", o.gradients == GradientType::bf16 ? "bf16" : "float32"},
        {"reduce", o.reduction == Reduction::all_reduce ? "allreduce" : "reduce-scatter"},
        {"average", o.average == Average::avg ? "avg" : "sum"}}},
      {"first_step", r.steps.front().number},
      {"last_step", r.steps.back().number},
      {"loss", r.steps.back().loss},
      {"accuracy", r.accuracy},
      {"weights", hex(r.digest)},
      {"seconds", r.seconds}};
  if (!o.quiet) {
    for (const Step& step : r.steps) {
      document["steps"].push_back(
          {{"step", step.number}, {"loss", print("%a", step.loss)}, {"weights", hex(step.digest)}});
    }
  }
  return document.dump(1);
}

}  // namespace trainer
