// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace detccl::cli {
namespace {

std::string line(std::string_view title, std::string_view text) {
  return fmt::format("{:<14}{}\n", title, text);
}

std::string text_of(const ProcessFound& process) {
  const std::string alike = process.alike == 1 ? "" : fmt::format(" and {} more alike", process.alike - 1);
  std::string text = line("process", fmt::format("{}{}  {}", process.pid, alike, process.program));
  for (const NcclFound& nccl : process.nccls) {
    text += line("  NCCL", fmt::format("{}  {}{}{}", nccl.version.empty() ? "version unknown" : nccl.version,
                                       nccl.file, nccl.contained ? "  statically linked" : "",
                                       nccl.behind_detccl ? "  behind DetCCL" : ""));
  }
  for (const ClientFound& client : process.clients) {
    const std::string where = client.reaches_detccl     ? "DetCCL, " + client.function
                              : client.function.empty() ? "not DetCCL"
                                                        : "not DetCCL but " + client.function;
    text += line("  calls from", fmt::format("{}  ({})", client.file, client.how));
    text += line("    go to", where);
  }
  return text;
}

nlohmann::ordered_json json_of(const ProcessFound& process) {
  nlohmann::ordered_json nccls = nlohmann::ordered_json::array(), clients = nccls;
  for (const NcclFound& nccl : process.nccls)
    nccls.push_back({{"file", nccl.file},
                     {"version", nccl.version},
                     {"statically_linked", nccl.contained},
                     {"behind_detccl", nccl.behind_detccl}});
  for (const ClientFound& client : process.clients)
    clients.push_back({{"file", client.file},
                       {"how", client.how},
                       {"functions_of", client.function},
                       {"reaches_detccl", client.reaches_detccl}});
  return {{"pid", process.pid},
          {"processes", process.alike},
          {"program", process.program},
          {"detccl", process.detccl},
          {"nccl", nccls},
          {"clients", clients}};
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis) {
  std::string text = line("command", fmt::format("{}  ({})", diagnosis.command, diagnosis.ended));
  if (!diagnosis.placed.empty())
    text += line("DetCCL", fmt::format("{}, {}", diagnosis.placed, diagnosis.why));
  for (const ProcessFound& process : diagnosis.processes)
    text += text_of(process);
  for (const std::string& note : diagnosis.notes)
    text += line("note", note);
  for (const std::string& problem : diagnosis.problems)
    text += line("problem", problem);
  const std::size_t count = diagnosis.problems.size();
  return text + line("verdict", count == 0   ? "fine: DetCCL is in the path of all NCCL calls that were seen"
                                : count == 1 ? "a problem"
                                             : fmt::format("{} problems", count));
}

std::string to_json(const Diagnosis& diagnosis) {
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const ProcessFound& process : diagnosis.processes)
    processes.push_back(json_of(process));
  const nlohmann::ordered_json report = {
      {"command", diagnosis.command}, {"program", diagnosis.program},   {"ended", diagnosis.ended},
      {"detccl", diagnosis.placed},   {"why", diagnosis.why},           {"processes", processes},
      {"notes", diagnosis.notes},     {"problems", diagnosis.problems}, {"fine", diagnosis.problems.empty()}};
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int exit_status(const Diagnosis& diagnosis) {
  return diagnosis.problems.empty() ? 0 : 1;
}

}  // namespace detccl::cli
