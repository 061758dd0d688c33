// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "simulate/validate.h"

namespace detccl::simulate {
namespace {

using Json = nlohmann::ordered_json;

std::string file_name(const Validation& v) {
  return std::filesystem::path(v.file).filename();
}

std::string summary(const Fit& fit) {
  const Errors held = errors(fit.points, false), fitted = errors(fit.points, true);
  return fmt::format(
      "{}, {} ranks: {:.1f} us a group, {:.2f} GB/s; error of {} points that were not fitted: median {:.0f} "
      "%, "
      "most {:.0f} % (of {} fitted ones {:.0f} %, {:.0f} %)\n",
      fit.what, fit.ranks, fit.group * 1e6, fit.bandwidth / 1e9, held.points, 100 * held.median,
      100 * held.most, fitted.points, 100 * fitted.median, 100 * fitted.most);
}

}  // namespace

std::string validation_text(const std::vector<Validation>& all) {
  std::string text = "Predictions against measured times\n";
  for (const Validation& v : all) {
    text += "\n" + file_name(v) + "\n";
    for (const Fit& fit : v.fits) {
      text += summary(fit);
      text +=
          fmt::format("  {:<56}{:>10}{:>12}{:>12}{:>8}\n", "", "bytes", "measured us", "predicted", "error");
      for (const ValidatedPoint& p : fit.points)
        text += fmt::format("  {:<56}{:>10}{:>12.1f}{:>12.1f}{:>6.0f} %{}\n", p.series, p.bytes,
                            p.measured * 1e6, p.predicted * 1e6, 100 * p.error(), p.fitted ? " fitted" : "");
    }
  }
  text += "\nSummary\n";
  for (const Validation& v : all)
    for (const Fit& fit : v.fits)
      text += file_name(v) + ", " + summary(fit);
  return text;
}

std::string validation_json(const std::vector<Validation>& all) {
  Json array = Json::array();
  for (const Validation& v : all) {
    for (const Fit& fit : v.fits) {
      const Errors held = errors(fit.points, false);
      Json object = {{"file", file_name(v)},        {"what", fit.what},
                     {"ranks", fit.ranks},          {"group_us", fit.group * 1e6},
                     {"gb_s", fit.bandwidth / 1e9}, {"not_fitted", held.points},
                     {"median_error", held.median}, {"largest_error", held.most}};
      for (const ValidatedPoint& p : fit.points)
        object["points"].push_back({{"series", p.series},
                                    {"bytes", p.bytes},
                                    {"measured_us", p.measured * 1e6},
                                    {"predicted_us", p.predicted * 1e6},
                                    {"fitted", p.fitted}});
      array.push_back(object);
    }
  }
  return Json{{"format", "detccl-validation-1"}, {"fits", array}}.dump(1) + "\n";
}

}  // namespace detccl::simulate
