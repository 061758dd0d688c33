// SPDX-License-Identifier: Apache-2.0
#include "recorder/drain.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "command.h"
#include "fingerprint/digest.h"
#include "read_records.h"

namespace detccl::recorder {
namespace {

using trace::Record;

/// A ring whose slots the test writes.
class Drains : public testing::Test {
 protected:
  static constexpr std::uint64_t kSlots = 16;

  Site operation(std::uint64_t count, bool captured = false) {
    Site site;
    site.record.communicator = 77;
    site.record.count = count;
    site.record.step = 4;
    site.phase = "forward";
    site.input_bytes = site.output_bytes = 3 * count;
    site.captured = captured;
    return site;
  }
  SiteTable::Place add(Site site) {
    const auto place = sites_.add(std::move(site));
    sites_.commit(place->site);
    return *place;
  }
  void write(std::uint64_t site, std::uint64_t index, std::uint64_t dropped, fingerprint::Sums input) {
    Slot& slot = slots_[next_ % kSlots];
    slot.site = site;
    slot.index = index;
    slot.dropped = dropped;
    slot.input = input;
    slot.output = {};
    std::atomic_ref(slot.sequence).store(++next_, std::memory_order_release);
  }
  std::vector<Record> close(Drain& drain) {
    drain.close();
    recorder_.close();
    reader_ = open(recorder_.path());
    return records_of(*reader_);
  }

  test::Folder folder_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  RingControl control_;
  std::uint64_t next_ = 0;
  SiteTable sites_{100};
  Recorder recorder_{{folder_.file("trace"), {}, 0}, {}};
  RingReader ring_{slots_.data(), &control_, kSlots};
  std::unique_ptr<trace::Reader> reader_;
};

TEST_F(Drains, JoinsRecordsWithWhatTheHostKnows) {
  Drain drain(ring_, sites_, recorder_, {});
  const auto eager = add(operation(5)), captured = add(operation(6, true));
  write(captured.site, 0, 0, {1, 2});
  write(eager.site, 1, 0, {3, 4});
  write(captured.site, 2, 0, {5, 6});
  const std::vector<Record> all = close(drain);
  ASSERT_EQ(all.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].communicator_sequence, i);
    EXPECT_EQ(all[i].communicator, 77u);
    EXPECT_EQ(all[i].step, 4u);
    EXPECT_EQ(reader_->tables().string(all[i].phase), "forward");
    const fingerprint::Digest digest = fingerprint::finish({2 * i + 1, 2 * i + 2}, 3 * all[i].count);
    EXPECT_EQ(trace::to_hex(all[i].input), fingerprint::to_string(digest));
  }
  EXPECT_EQ(all[0].count, 6u);
  EXPECT_EQ(all[1].count, 5u);
  EXPECT_EQ(recorder_.problem(), "");
}

TEST_F(Drains, DroppedRecordsAreAGapAndATotalAndAWarning) {
  std::atomic<int> warnings = 0;
  Drain drain(ring_, sites_, recorder_, [&] { ++warnings; });
  const auto captured = add(operation(6, true));
  write(captured.site, 0, 0, {});
  write(captured.site, 3, 2, {});
  std::atomic_ref(control_.dropped).store(7);
  const std::vector<Record> all = close(drain);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].sequence, 0u);
  EXPECT_EQ(all[1].sequence, 3u);
  ASSERT_TRUE(reader_->end());
  EXPECT_EQ(reader_->end()->count, 7u) << "also those after the last record";
  EXPECT_EQ(warnings, 1);
  EXPECT_NE(recorder_.problem().find("7 records dropped on the GPU"), std::string::npos)
      << recorder_.problem();
}

TEST_F(Drains, ClosingWaitsForWhatIsUnderWayButNotForEver) {
  {
    Drain drain(ring_, sites_, recorder_, {});
    const auto eager = add(operation(5));
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      write(eager.site, 0, 0, {});
    });
    const std::vector<Record> all = close(drain);
    late.join();
    EXPECT_EQ(all.size(), 1u);
  }
  Drain another(ring_, sites_, recorder_, {});
  add(operation(5));
  const auto start = std::chrono::steady_clock::now();
  another.close(std::chrono::milliseconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace detccl::recorder
