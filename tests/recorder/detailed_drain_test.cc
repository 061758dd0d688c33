// SPDX-License-Identifier: Apache-2.0
// Detailed records on their way from a ring to the trace file: tables of chunks and durations.
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "command.h"
#include "fingerprint/digest.h"
#include "host_ring.h"
#include "read_records.h"
#include "recorder/detail.h"
#include "recorder/drain.h"

namespace detccl::recorder {
namespace {

using fingerprint::Sums;
using trace::ChunkTable;
using trace::Record;

using Bytes = std::vector<std::byte>;

Bytes payload(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  Bytes data(bytes);
  for (std::byte& byte : data)
    byte = static_cast<std::byte>(random());
  return data;
}

std::string digest_of(const Bytes& data) {
  return fingerprint::to_string(fingerprint::digest(data.data(), data.size()));
}

class DetailedDrains : public testing::Test {
 protected:
  void start(std::uint64_t slots, std::size_t chunk_bytes) {
    Options options{folder_.file("trace"), {}, chunk_bytes};
    options.times = true;
    recorder_ = std::make_unique<Recorder>(options, trace::RunInfo{});
    memory_ = std::make_unique<Memory>(slots);
  }
  void drain() {
    drain_ = std::make_unique<Drain>(memory_->reader(), sites_, *recorder_, [] {});
  }

  /// What the host and the device do for an operation.
  void operate(const Bytes& input, const Bytes& output, Times times) {
    Site site;
    site.record.count = input.size();
    site.input_bytes = input.size();
    site.output_bytes = output.size();
    if (input.empty()) site.record.flags |= trace::kNoInput;
    if (output.empty()) site.record.flags |= trace::kNoOutput;
    const auto place = sites_.add(site);
    sites_.commit(place->site);
    const std::size_t wanted = recorder_->options().chunk_bytes;
    const Chunks in = chunks_of(input.size(), wanted), out = chunks_of(output.size(), wanted);
    std::vector<Sums> in_sums(in.count), out_sums(out.count);
    if (in.count != 0) fingerprint::chunks(input.data(), input.size(), in.bytes, in_sums.data());
    if (out.count != 0) fingerprint::chunks(output.data(), output.size(), out.bytes, out_sums.data());
    const Details details{&times, in_sums.data(), out_sums.data(), in, out};
    std::uint64_t number = 0;
    const bool taken = begin_record<HostMemory>(memory_->ring(), place->site, &operations_, details, number);
    for (std::uint64_t i = 0; i < further_slots(details); ++i)
      move_chunk(memory_->ring(), details, i, taken, number);
    if (taken) end_record<HostMemory>(memory_->ring(), number);
  }

  std::vector<Record> close() {
    drain_->close();
    recorder_->close();
    reader_ = open(recorder_->path());
    return records_of(*reader_);
  }

  void expect_table(const ChunkTable& table, const Bytes& data, bool is_output) const {
    const std::size_t chunk = recorder_->options().chunk_bytes;
    EXPECT_EQ(table.bytes, data.size());
    EXPECT_EQ(table.chunk_bytes, chunk);
    EXPECT_EQ(table.is_output, is_output);
    ASSERT_EQ(table.digests.size(), fingerprint::chunk_count(data.size(), chunk));
    for (std::size_t i = 0; i < table.digests.size(); ++i) {
      const std::size_t bytes = std::min(chunk, data.size() - i * chunk);
      Sums sums;
      fingerprint::add(sums, data.data() + i * chunk, bytes, i * chunk / fingerprint::kWordBytes);
      EXPECT_EQ(trace::to_hex(table.digests[i]), fingerprint::to_string(fingerprint::finish(sums, bytes)));
    }
  }

  test::Folder folder_;
  SiteTable sites_{100};
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<trace::Reader> reader_;
  std::uint64_t operations_ = 0;
};

TEST_F(DetailedDrains, TablesDigestsAndDurationsReachTheFile) {
  start(1024, 64);
  drain();
  struct Payloads {
    std::size_t in, out;
  };
  const std::vector<Payloads> all = {{1000, 1000}, {4000, 1000}, {16, 70}, {200, 0}, {0, 200}, {64, 64}};
  for (unsigned i = 0; i < all.size(); ++i)
    operate(payload(all[i].in, i), payload(all[i].out, 100 + i), {1000, 1500 + i});
  const std::vector<Record> records = close();
  ASSERT_EQ(records.size(), all.size());
  EXPECT_EQ(recorder_->problem(), "");
  for (unsigned i = 0; i < all.size(); ++i) {
    const Bytes input = payload(all[i].in, i), output = payload(all[i].out, 100 + i);
    EXPECT_EQ(records[i].communicator_sequence, i);
    EXPECT_EQ(records[i].duration_ns, 500 + i);
    const auto tables = reader_->chunk_tables(records[i].sequence);
    std::size_t found = 0;
    if (!input.empty()) {
      EXPECT_EQ(trace::to_hex(records[i].input), digest_of(input));
      ASSERT_LT(found, tables.size());
      expect_table(tables[found++], input, false);
    }
    if (!output.empty()) {
      EXPECT_EQ(trace::to_hex(records[i].output), digest_of(output));
      ASSERT_LT(found, tables.size());
      expect_table(tables[found++], output, true);
    }
    EXPECT_EQ(tables.size(), found);
  }
}

TEST_F(DetailedDrains, WithoutChunksThereAreDigestsAndDurationsAndNoTables) {
  start(1024, 0);
  drain();
  operate(payload(1000, 1), payload(5000, 2), {1, 1});
  operate(payload(1000, 3), {}, {7, 6});  // not in this order
  operate({}, payload(1000, 4), {0, std::uint64_t{1} << 40});
  const std::vector<Record> records = close();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(trace::to_hex(records[0].input), digest_of(payload(1000, 1)));
  EXPECT_EQ(trace::to_hex(records[0].output), digest_of(payload(5000, 2)));
  EXPECT_EQ(trace::to_hex(records[1].input), digest_of(payload(1000, 3)));
  EXPECT_EQ(trace::to_hex(records[2].output), digest_of(payload(1000, 4)));
  EXPECT_EQ(records[0].duration_ns, 0u);
  EXPECT_EQ(records[1].duration_ns, trace::kNoDuration);
  EXPECT_EQ(records[2].duration_ns, trace::kNoDuration - 1);
  for (const Record& record : records)
    EXPECT_TRUE(reader_->chunk_tables(record.sequence).empty());
}

TEST_F(DetailedDrains, ATableThatFindsNoRoomIsAGapAndATotal) {
  start(16, 64);
  operate(payload(640, 1), payload(640, 2), {1, 2});  // 11 slots
  operate(payload(640, 3), payload(640, 4), {1, 2});  // no room
  operate(payload(64, 5), payload(64, 6), {1, 2});
  drain();
  const std::vector<Record> records = close();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].sequence, 0u);
  EXPECT_EQ(records[1].sequence, 2u);
  EXPECT_EQ(records[1].communicator_sequence, 2u);
  EXPECT_EQ(trace::to_hex(records[1].input), digest_of(payload(64, 5)));
  EXPECT_EQ(reader_->chunk_tables(2).size(), 2u);
  ASSERT_TRUE(reader_->end());
  EXPECT_EQ(reader_->end()->count, 1u);
  EXPECT_NE(recorder_->problem().find("1 records dropped on the GPU"), std::string::npos)
      << recorder_->problem();
}

}  // namespace
}  // namespace detccl::recorder
