// SPDX-License-Identifier: Apache-2.0
#include "simulate/measured.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace detccl::simulate {
namespace {

using Json = nlohmann::json;

/// "32M".
std::uint64_t bytes_of(const std::string& text) {
  std::size_t used = 0;
  const std::uint64_t value = std::stoull(text, &used);
  const std::size_t unit = used < text.size() ? std::string("KMG").find(text[used]) : std::string::npos;
  return unit == std::string::npos ? value : value << (10 * (unit + 1));
}

/// The perf programs write NCCL's names in some formats and ours in others.
contract::DataType type_of(const std::string& text) {
  if (text == "float") return contract::DataType::float32;
  const auto type = contract::parse_data_type(text);
  if (!type) throw std::invalid_argument("measured: no type '" + text + "'");
  return *type;
}

engine::Settings settings_of(const Json& environment, bool host, std::uint64_t chunk) {
  engine::Settings settings = host ? engine::Settings() : gpu_settings();
  if (!host) settings.chunk_bytes = chunk;
  if (environment.contains("DETCCL_CHUNK"))
    settings.chunk_bytes = bytes_of(environment.at("DETCCL_CHUNK").get<std::string>());
  if (environment.contains("DETCCL_SCRATCH"))
    settings.scratch_limit = bytes_of(environment.at("DETCCL_SCRATCH").get<std::string>());
  return settings;
}

void append(const Json& document, const Json& environment, std::uint64_t chunk, std::vector<Measured>& all) {
  const auto collective = plan::parse_collective(document.at("collective").get<std::string>());
  if (!collective) throw std::invalid_argument("measured: no such collective");
  Measured m;
  m.host = document.at("memory") == "host";
  m.ranks = document.at("ranks").get<std::uint32_t>();
  for (const Json& row : document.at("results")) {
    m.c.collective = *collective;
    m.c.type = type_of(row.contains("datatype") ? row.at("datatype") : document.at("datatype"));
    m.c.bytes = row.at("bytes").get<std::uint64_t>();
    const std::string schedule = row.contains("schedule") ? row.at("schedule") : document.at("schedule");
    m.settings = settings_of(environment, m.host, chunk);
    m.settings.schedule = plan::parse_schedule(schedule);  // none: chosen
    m.settings.schedule = engine::choose_schedule(m.settings, m.ranks, m.c.bytes);
    m.series = std::string(plan::name(*collective)) + " " + schedule;
    for (const auto& [key, value] : environment.items())
      m.series += " " + key + "=" + value.get<std::string>();
    m.seconds = row.at("time_us").at("median").get<double>() * 1e-6;
    m.native = 0;
    if (document.value("against", "") == "native")
      m.native = row.at("peer_time_us").at("median").get<double>() * 1e-6;
    all.push_back(m);
  }
}

}  // namespace

std::vector<Measured> read_measured(const std::string& text, std::uint64_t chunk) {
  std::vector<Measured> all;
  try {
    const Json object = Json::parse(text);
    const std::string format = object.at("format");
    if (format == "detccl-perf-1" || format == "detccl-perf-2") {
      append(object, Json::object(), chunk, all);
    } else {
      for (const Json& part : object.at(format == "detccl-perf-table-1" ? "runs" : "sweeps"))
        if (part.contains("document") && part.at("document").is_object())
          append(part.at("document"), part.value("settings", Json::object()), chunk, all);
    }
  } catch (const Json::exception& e) {
    throw std::invalid_argument(std::string("measured: ") + e.what());
  }
  if (all.empty()) throw std::invalid_argument("measured: nothing there");
  return all;
}

}  // namespace detccl::simulate
