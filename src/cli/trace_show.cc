// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_show.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <ostream>
#include <string_view>
#include <vector>

#include "cli/trace_fields.h"
#include "cli/trace_list.h"

namespace detccl::cli {
namespace {

bool number(std::string_view text, std::uint64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

std::string number_or_dash(std::uint32_t value, std::uint32_t none) {
  return value == none ? "-" : std::to_string(value);
}

std::string digest(const trace::Digest& d, bool there) {
  return there ? trace::to_hex(d) : std::string(32, '-');
}

std::string line(std::uint32_t rank, const trace::Record& r, const trace::Tables& tables) {
  return fmt::format("{:>5} {:>8} {:>6} {:<16} {:>8} {:<24} {:>12} {:<10} {:<5} {:>5} {} {} {}\n", rank,
                     r.sequence, number_or_dash(r.step, trace::kNoStep), group_name(r, tables),
                     r.communicator_sequence, profiling_name(r, tables), r.count, trace::type_name(r.type),
                     trace::op_name(r.op), number_or_dash(r.peer, trace::kNoPeer),
                     digest(r.input, (r.flags & trace::kNoInput) == 0),
                     digest(r.output, (r.flags & trace::kNoOutput) == 0), printable(tables.string(r.phase)));
}

}  // namespace

void RecordFilter::parse() {
  if (!steps.empty()) {
    const std::string_view text = steps;
    const std::size_t dash = text.find('-');
    const bool range = dash != std::string_view::npos;
    if (!number(text.substr(0, dash), first_step_) ||
        !number(range ? text.substr(dash + 1) : text, last_step_) || last_step_ < first_step_) {
      throw CLI::ValidationError("--steps", "'" + steps + "' is neither a step nor a range such as 100-120");
    }
  }
  if (!operation.empty()) {
    const int kind = trace::parse_kind(operation);
    if (kind == trace::kKinds) throw CLI::ValidationError("--operation", "there is no '" + operation + "'");
    kind_ = static_cast<std::uint8_t>(kind);
  }
}

bool RecordFilter::finds_rank(const trace::RankFiles& files, std::string& error) const {
  if (!rank || files.contains(*rank)) return true;
  error = fmt::format("rank {} is not in the trace", *rank);
  return false;
}

bool RecordFilter::accepts(const trace::Record& r, const trace::Tables& tables) const {
  if (!steps.empty() && (r.step == trace::kNoStep || r.step < first_step_ || r.step > last_step_))
    return false;
  if (kind_ && static_cast<std::uint8_t>(r.kind) != *kind_) return false;
  return communicator.empty() || communicator == group_name(r, tables) ||
         communicator == fmt::format("{:016x}", r.communicator);
}

void for_each_record(const trace::RankTrace& trace, const RecordFilter& filter, const TakeRecord& take) {
  std::vector<trace::Tables> tables;
  for (const auto& part : trace.parts()) {
    tables.push_back(part->tables());
  }
  for (std::uint32_t part = 0; part < trace.parts().size(); ++part) {
    const trace::Reader& reader = *trace.parts()[part];
    trace::RecordCursor cursor(reader, reader.first_offset(), 0);
    std::vector<trace::Record> records;
    while (cursor.next(records)) {
      for (const trace::Record& r : records) {
        if (!trace.counts(part, r.step) || !filter.accepts(r, tables[part])) continue;
        if (!take(r, reader, tables[part])) return;
      }
    }
  }
}

bool show_trace(const std::string& path, const RecordFilter& filter, std::ostream& out, std::string& error) {
  const trace::RankFiles files = trace::list_ranks(path, error);
  if (files.empty() || !filter.finds_rank(files, error)) return false;
  out << fmt::format("{:>5} {:>8} {:>6} {:<16} {:>8} {:<24} {:>12} {:<10} {:<5} {:>5} {:<32} {:<32} {}\n",
                     "rank", "record", "step", "communicator", "seq", "operation", "count", "type", "op",
                     "peer", "input_digest", "output_digest", "phase");
  for (const auto& [rank, paths] : files) {
    if (filter.rank && *filter.rank != rank) continue;
    const auto trace = trace::RankTrace::open(paths, error);
    if (!trace) return false;
    for_each_record(*trace, filter, [&out, number = rank](const auto& r, const auto&, const auto& tables) {
      out << line(number, r, tables);
      return out.good();
    });
    std::uint64_t lost = 0;
    for (const auto& part : trace->parts())
      lost += lost_records(*part);
    if (lost != 0) out << fmt::format("{:>5} lost {} records while it was traced\n", rank, lost);
  }
  out.flush();
  return true;
}

}  // namespace detccl::cli
