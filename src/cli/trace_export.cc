// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_export.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <unordered_map>

#include "cli/trace_fields.h"
#include "trace/folder.h"

namespace detccl::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A file that was not there before.
class NewFile {
 public:
  bool open(const std::string& path, std::string& error) {
    path_ = path;
    file_.reset(std::fopen(path.c_str(), "wxe"));
    return file_ != nullptr || fail(error);
  }
  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) failed_ = true;
  }
  bool close(std::string& error) { return (std::fclose(file_.release()) == 0 && !failed_) || fail(error); }
  bool failed() const { return failed_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  bool fail(std::string& error) const {
    error = path_ + ": " + std::strerror(errno);
    return false;
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool failed_ = false;
};

/// What all formats share: where to write, and what is called for each rank and record.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  virtual bool begin(const std::string& out, std::string& error) = 0;
  virtual bool rank(const trace::RunInfo& run, std::string& error) = 0;
  /// False: no more can be written.
  virtual bool record(const trace::Record& r, const trace::RunInfo& run, const trace::Tables& tables) = 0;
  virtual bool end(std::string& error) = 0;
};

class Jsonl : public Sink {
 public:
  bool begin(const std::string& out, std::string& error) override {
    std::error_code failure;
    std::filesystem::create_directories(out, failure);
    if (failure) error = out + ": " + failure.message();
    folder_ = out;
    return !failure;
  }

  bool rank(const trace::RunInfo& run, std::string& error) override {
    error = error_;
    if (!error_.empty() || (file_ && !file_->close(error))) return false;
    file_.reset();
    path_ = fmt::format("{}/rank_{:06}.jsonl", folder_, run.rank);
    sequence_ = 0;
    occurrences_.clear();
    return true;
  }

  bool record(const trace::Record& r, const trace::RunInfo& run, const trace::Tables& tables) override {
    if (!file_ && !file_.emplace().open(path_, error_)) return false;  // empty files are refused there
    Json fields = fields_of(r, tables);
    // What diff does not compare. The number is another one after resuming; `sequence` goes on.
    for (const char* name : {"record_id", "in_place", "deterministic", "graph", "group"})
      fields.erase(name);
    std::string phase = fields["phase"];
    if (phase.empty()) phase = "unspecified";
    phase.resize(std::min<std::size_t>(phase.size(), 512));
    const std::string name = (profiling_name(r, tables) + " " + group_name(r, tables)).substr(0, 512);
    Json line;
    line["schema_version"] = 1;
    line["event"] = "event";
    line["rank"] = run.rank;
    line["sequence"] = sequence_++;
    line["iteration"] = r.step == trace::kNoStep ? Json() : Json(r.step);
    line["microbatch"] = Json();
    line["phase"] = phase;
    line["name"] = name;
    line["occurrence"] = occurrence(r.step, phase, name);
    line["fields"] = std::move(fields);
    file_->write(dump_line(line) + "\n");
    return !file_->failed();
  }

  bool end(std::string& error) override {
    error = error_;
    return error_.empty() && (!file_ || file_->close(error));
  }

 private:
  /// How many of the same step, phase and name came before. A step may come again, as those of graphs do. Two
  /// that happen to have the same hash share their numbers, which tells them apart as well.
  std::uint64_t occurrence(std::uint32_t step, const std::string& phase, const std::string& name) {
    const std::size_t hash = std::hash<std::string>()(fmt::format("{} {}\n{}", step, phase, name));
    return occurrences_[hash]++;
  }

  std::string folder_, path_, error_;
  std::optional<NewFile> file_;
  std::uint64_t sequence_ = 0;
  std::unordered_map<std::size_t, std::uint32_t> occurrences_;
};

class Csv : public Sink {
 public:
  bool begin(const std::string& out, std::string& error) override {
    if (!file_.open(out, error)) return false;
    file_.write(
        "rank,record_id,step,phase,pg_name,pg_key,collective_seq_id,p2p_seq_id,profiling_name,count,dtype,op,"
        "peer,"
        "input_digest,output_digest,in_place,deterministic,graph,group,stream,start_ns,duration_ns\n");
    return true;
  }
  bool rank(const trace::RunInfo&, std::string&) override { return true; }

  bool record(const trace::Record& r, const trace::RunInfo& run, const trace::Tables& tables) override {
    const bool p2p = trace::is_p2p(static_cast<std::uint8_t>(r.kind));
    const auto flag = [&r](std::uint8_t bit) { return (r.flags & bit) != 0 ? 1 : 0; };
    file_.write(fmt::format(
        "{},{},{},{},{},{:016x},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", run.rank, r.sequence,
        number(r.step, trace::kNoStep), quoted(printable(tables.string(r.phase))),
        quoted(group_name(r, tables)), r.communicator, p2p ? "" : std::to_string(r.communicator_sequence),
        p2p ? std::to_string(r.communicator_sequence) : "", quoted(profiling_name(r, tables)), r.count,
        trace::type_name(r.type), trace::op_name(r.op), number(r.peer, trace::kNoPeer),
        flag(trace::kNoInput) != 0 ? "" : trace::to_hex(r.input),
        flag(trace::kNoOutput) != 0 ? "" : trace::to_hex(r.output), flag(trace::kInPlace), flag(trace::kOurs),
        flag(trace::kGraph), flag(trace::kGroup), r.stream, r.start_ns,
        number(r.duration_ns, trace::kNoDuration)));
    return !file_.failed();
  }

  bool end(std::string& error) override { return file_.close(error); }

 private:
  static std::string number(std::uint32_t value, std::uint32_t none) {
    return value == none ? "" : std::to_string(value);
  }
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      out += c == '"' ? "\"\"" : std::string(1, c);
    }
    return out + '"';
  }

  NewFile file_;
};

class Chrome : public Sink {
 public:
  bool begin(const std::string& out, std::string& error) override {
    if (!file_.open(out, error)) return false;
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    return true;
  }

  bool rank(const trace::RunInfo& run, std::string&) override {
    if (base_ns_ == 0) base_ns_ = run.start_ns;
    Json event = {{"ph", "M"}, {"name", "process_name"}, {"pid", run.rank}};
    event["args"]["name"] = fmt::format("rank {} {}", run.rank, run.host);
    put(event);
    return true;
  }

  bool record(const trace::Record& r, const trace::RunInfo& run, const trace::Tables& tables) override {
    // Where times were not taken, operations stand a microsecond apart; those of graphs have no start.
    const bool timed = r.duration_ns != trace::kNoDuration;
    const bool started = timed && (r.flags & trace::kGraph) == 0;
    const double start = started ? (static_cast<double>(run.start_ns) - static_cast<double>(base_ns_) +
                                    static_cast<double>(r.start_ns)) /
                                       1000
                                 : static_cast<double>(r.sequence);
    Json event = {{"ph", "X"},
                  {"name", profiling_name(r, tables)},
                  {"cat", group_name(r, tables)},
                  {"pid", run.rank},
                  {"tid", r.stream},
                  {"ts", start},
                  {"dur", timed ? static_cast<double>(r.duration_ns) / 1000 : 1.0}};
    event["args"] = fields_of(r, tables);
    put(event);
    return !file_.failed();
  }

  bool end(std::string& error) override {
    file_.write("\n]}\n");
    return file_.close(error);
  }

 private:
  void put(const Json& event) {
    file_.write((first_ ? "\n" : ",\n") + dump_line(event));
    first_ = false;
  }

  NewFile file_;
  bool first_ = true;
  std::uint64_t base_ns_ = 0;
};

std::unique_ptr<Sink> sink_for(const std::string& format) {
  if (format == "jsonl") return std::make_unique<Jsonl>();
  if (format == "csv") return std::make_unique<Csv>();
  return std::make_unique<Chrome>();
}

}  // namespace

bool export_trace(const std::string& path, const std::string& format, const std::string& out,
                  const RecordFilter& filter, std::string& error) {
  const trace::RankFiles files = trace::list_ranks(path, error);
  if (files.empty() || !filter.finds_rank(files, error)) return false;
  const std::unique_ptr<Sink> sink = sink_for(format);
  if (!sink->begin(out, error)) return false;
  for (const auto& [rank, paths] : files) {
    if (filter.rank && *filter.rank != rank) continue;
    const auto trace = trace::RankTrace::open(paths, error);
    if (!trace || !sink->rank(trace->run(), error)) return false;
    for_each_record(*trace, filter, [&sink](const auto& r, const auto& part, const auto& tables) {
      return sink->record(r, part.run(), tables);
    });
  }
  return sink->end(error);
}

}  // namespace detccl::cli
