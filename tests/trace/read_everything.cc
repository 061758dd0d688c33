// SPDX-License-Identifier: Apache-2.0
#include "read_everything.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/rank_diff.h"
#include "trace/rank_trace.h"
#include "trace/reader.h"

namespace detccl::test {
namespace {

std::unique_ptr<trace::RankTrace> as_rank(std::span<const std::byte> bytes, int parts) {
  std::vector<std::unique_ptr<trace::Reader>> readers;
  for (int part = 0; part < parts; ++part) {
    std::string error;
    auto reader = trace::Reader::open(trace::in_memory({bytes.begin(), bytes.end()}), error);
    if (!reader) return nullptr;
    readers.push_back(std::move(reader));
  }
  return trace::RankTrace::of(std::move(readers));
}

}  // namespace

std::size_t read_everything(std::span<const std::byte> bytes) {
  std::string error;
  const auto reader = trace::Reader::open(trace::in_memory({bytes.begin(), bytes.end()}), error);
  if (!reader) return 0;
  const trace::Tables tables = reader->tables();
  std::size_t read = 0;
  std::vector<trace::Record> records;
  trace::RecordCursor cursor(*reader, reader->first_offset(), 0);
  while (cursor.next(records)) {
    read += records.size();
    (void)tables.string(records[0].phase);
    (void)tables.communicator(records[0].communicator);
    (void)reader->chunk_tables(records[0].sequence);
  }
  (void)reader->index();
  const auto once = as_rank(bytes, 1), resumed = as_rank(bytes, 2);
  trace::DiffOptions options;
  options.steps = true;
  (void)trace::diff_rank(*once, *resumed, options);
  options.ignore_rollups = true;
  (void)trace::diff_rank(*resumed, *once, options);
  return read;
}

}  // namespace detccl::test
