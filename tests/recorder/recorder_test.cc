// SPDX-License-Identifier: Apache-2.0
#include "recorder/recorder.h"

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "command.h"
#include "read_records.h"
#include "recorder/context.h"

namespace detccl::recorder {
namespace {

using trace::Record;

Record operation(trace::Kind kind, std::uint64_t communicator, std::uint32_t peer = trace::kNoPeer) {
  Record record;
  record.kind = kind;
  record.communicator = communicator;
  record.peer = peer;
  record.count = 1;
  return record;
}

class Recorders : public testing::Test {
 protected:
  Options options() const { return {folder_.file("trace"), {}, 0}; }
  test::Folder folder_;
};

TEST_F(Recorders, SequencesArePerProcessCommunicatorAndPeer) {
  Recorder recorder(options(), {});
  set_step(3);
  push_range("backward");
  recorder.append(operation(trace::Kind::all_reduce, 1));
  recorder.append(operation(trace::Kind::all_reduce, 2));
  recorder.append(operation(trace::Kind::reduce, 1, 0));
  recorder.append(operation(trace::Kind::send, 1, 4));
  recorder.append(operation(trace::Kind::recv, 1, 4));
  recorder.append(operation(trace::Kind::send, 1, 5));
  recorder.append(operation(trace::Kind::send, 1, 4));
  pop_range();
  recorder.close();
  EXPECT_EQ(recorder.problem(), "");

  const auto reader = open(recorder.path());
  const std::vector<Record> all = records_of(*reader);
  const std::vector<std::uint64_t> expected = {0, 0, 1, 0, 0, 0, 1};
  ASSERT_EQ(all.size(), expected.size());
  const trace::Tables tables = reader->tables();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].communicator_sequence, expected[i]) << i;
    EXPECT_EQ(all[i].step, 3u);
    EXPECT_EQ(tables.string(all[i].phase), "backward");
  }
  EXPECT_TRUE(reader->closed());
}

TEST_F(Recorders, ManyThreadsLoseNothing) {
  Recorder recorder(options(), {});
  constexpr int kThreads = 4, kEach = 3000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&recorder, t] {
        for (int i = 0; i < kEach; ++i)
          recorder.append(operation(trace::Kind::all_reduce, static_cast<std::uint64_t>(t)));
      });
    }
  }
  recorder.close();
  EXPECT_EQ(recorder.problem(), "");
  EXPECT_EQ(records_of(*open(recorder.path())).size(), std::size_t{kThreads} * kEach);
}

TEST_F(Recorders, AWindowOfSteps) {
  Options some = options();
  some.steps = {10, 12};
  Recorder recorder(some, {});
  const auto wanted_in = [&recorder](std::uint32_t step) {
    set_step(step);
    return recorder.wanted();
  };
  EXPECT_FALSE(wanted_in(trace::kNoStep));
  EXPECT_FALSE(wanted_in(9));
  EXPECT_TRUE(wanted_in(10));
  EXPECT_TRUE(wanted_in(12));
  EXPECT_FALSE(wanted_in(13));
}

TEST_F(Recorders, AFolderThatCannotBeIsReportedAndStopsNothing) {
  Options bad = options();
  bad.folder = "/proc/none/trace";
  Recorder recorder(bad, {});
  EXPECT_NE(recorder.problem(), "");
  recorder.append(operation(trace::Kind::all_reduce, 1));
  recorder.close();
  EXPECT_NE(recorder.problem().find("1 records are lost"), std::string::npos) << recorder.problem();
}

}  // namespace
}  // namespace detccl::recorder
