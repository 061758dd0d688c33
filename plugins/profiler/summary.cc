// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "control.h"
#include "settings.h"
#include "steps.h"

namespace detccl::profiler {
namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += static_cast<unsigned char>(c) < 0x80 ? c : '?';
    }
  }
  return out + '"';
}

/// Buckets as [index, number, index, number …].
std::string sketch_text(const profile::Sketch& sketch) {
  std::string buckets;
  for (std::size_t i = 0; i < sketch.buckets().size(); ++i) {
    if (sketch.buckets()[i] == 0) continue;
    if (!buckets.empty()) buckets += ',';
    fmt::format_to(std::back_inserter(buckets), "{},{}", i, sketch.buckets()[i]);
  }
  return fmt::format(
      R"({{"count":{},"sum_ns":{:.17g},"square_sum":{:.17g},"min_ns":{},"max_ns":{},"buckets":[{}]}})",
      sketch.count(), sketch.sum(), sketch.square_sum(), sketch.min(), sketch.max(), buckets);
}

/// Those kept as [ours, native, ours, native …].
std::string pairs_text(const profile::Pairs& pairs) {
  std::string kept;
  for (const profile::Pair& pair : pairs.kept())
    fmt::format_to(std::back_inserter(kept), "{}{},{}", kept.empty() ? "" : ",", pair.ours, pair.native);
  return fmt::format(R"({{"count":{},"kept_ns":[{}]}})", pairs.count(), kept);
}

std::string class_text(const ClassKey& key, const Class& c) {
  std::string out = fmt::format(R"({{"function":{},"datatype":{},"doubling":{},"algorithm":{},"protocol":{},)"
                                R"("count":{},"bytes":{})",
                                json_text(key.function), json_text(key.datatype), key.doubling,
                                json_text(key.algorithm), json_text(key.protocol), c.count, c.bytes);
  if (const std::uint64_t in_steps = c.in_steps.through(steps_begun()); in_steps != 0)
    out += fmt::format(",\"in_steps\":{}", in_steps);
  if (c.transfer + c.fold + c.wait + c.kernel != 0)
    out += fmt::format(R"(,"phases":{{"transfer_ns":{},"fold_ns":{},"wait_ns":{},"kernel_ns":{}}})",
                       c.transfer, c.fold, c.wait, c.kernel);
  if (c.pairs.count() != 0) out += ",\n  \"pairs\":" + pairs_text(c.pairs);
  if (c.calibration.count() != 0) out += ",\n  \"calibration\":" + pairs_text(c.calibration);
  if (c.gpu.count() != 0) out += ",\n  \"gpu\":" + sketch_text(c.gpu);
  if (c.network.count() != 0) out += ",\n  \"network\":" + sketch_text(c.network);
  return out + '}';
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string text_of(const Communicator::Snapshot& v) {
  const Identity& id = v.identity;
  std::string out = fmt::format(
      "{{\"format\":\"detccl-profile-1\",\"detccl\":\"" DETCCL_VERSION
      "\",\"interface\":{},\"communicator\":\"{:016x}\",\"name\":{},\"rank\":{},\"ranks\":{},\"nodes\":{},\n"
      "\"host\":{},\"pid\":{},\"events\":{},\"seconds\":{:.6f},\"dropped\":{},\n\"groups\":{},\n\"classes\":"
      "[",
      id.version, id.communicator, json_text(id.name), id.rank, id.ranks, id.nodes, json_text(host_name()),
      ::getpid(), json_text(events_in_use()), static_cast<double>(v.ended - v.began) * 1e-9, v.dropped,
      sketch_text(v.groups));
  std::string separator = "\n ";
  for (const auto& [key, c] : v.classes) {
    out += separator + class_text(key, c);
    separator = ",\n ";
  }
  out += "]";
  if (const profile::Sketch steps = step_times(); steps.count() != 0)
    out += ",\n\"steps\":" + sketch_text(steps);
  separator = ",\n\"not_paired\":{";
  for (const auto& [reason, count] : v.not_paired) {
    out += fmt::format("{}{}:{}", separator, json_text(reason), count);
    separator = ",";
  }
  return out + (v.not_paired.empty() ? "}\n" : "}}\n");
}

/// A reader never sees half a file.
void write_file(const std::filesystem::path& path, const std::string& text) {
  const std::string unfinished = path.string() + ".part";
  std::FILE* file = std::fopen(unfinished.c_str(), "w");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if ((file == nullptr || std::fclose(file) == 0) && written &&
      std::rename(unfinished.c_str(), path.c_str()) == 0)
    return;
  say(fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

}  // namespace

std::string summary(Communicator& communicator) {
  return text_of(communicator.snapshot());
}

void write_summary(Communicator& communicator) noexcept {
  try {
    static std::atomic<unsigned> files{0};
    const std::lock_guard one_at_a_time(communicator.writing);
    const Communicator::Snapshot known = communicator.snapshot();
    if (known.classes.empty() && known.dropped == 0) return;
    const std::filesystem::path folder = settings().folder;
    if (communicator.file.empty())
      communicator.file = fmt::format("{:016x}-rank{}-{}-{}-{}.json", known.identity.communicator,
                                      known.identity.rank, host_name(), ::getpid(), files++);
    std::error_code ignored;  // writing the file tells
    std::filesystem::create_directories(folder, ignored);
    write_file(folder / communicator.file, text_of(known));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "detccl profiler: %s\n", e.what());
  }
}

void write_if_due(Communicator& communicator) noexcept {
  const std::uint64_t every = period();
  if (every == 0 || !communicator.is_due(every)) return;
  look_at_control();
  write_summary(communicator);
}

}  // namespace detccl::profiler
