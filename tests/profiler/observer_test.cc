// SPDX-License-Identifier: Apache-2.0
// What a libdetccl.so tells the plugin, whichever of the two is older.
#include <gtest/gtest.h>

#include <cstddef>

#include "nccl_side.h"
#include "profile/operation.h"

namespace {
detccl::profile::Observer the_observer = nullptr;
}

/// As libdetccl.so exports it.
extern "C" __attribute__((visibility("default"))) void detcclObserve(detccl::profile::Observer observer);
void detcclObserve(detccl::profile::Observer observer) {
  the_observer = observer;
}

namespace detccl::test {
namespace {

using profile::Moment;
using profile::Operation;

TEST(Observer, OperationsOfOlderAndNewerLibraries) {
  Plugin plugin("calls");
  Nccl<6> nccl(plugin);
  void* context = nccl.init(0xabc, 0, 2);
  ASSERT_NE(the_observer, nullptr);
  struct {
    Operation operation;
    std::uint64_t more = 77;
  } told;
  Operation& o = told.operation;
  o.ranks = 2;
  o.communicator = 0xdef;
  o.function = "AllReduce";
  o.datatype = "ncclFloat32";
  o.count = 1024;
  o.schedule = "direct";
  o.transfer = 600;
  o.fold = 300;
  o.kernel = 77;  // of an older one: not there at all
  o.size = offsetof(Operation, kernel);
  the_observer(&o, Moment::measured, 1000);
  o.size = offsetof(Operation, kernel) - 1;
  the_observer(&o, Moment::measured, 1000);
  o.schedule = "peer";
  o.transfer = o.fold = 0;
  o.size = sizeof told;
  the_observer(&o, Moment::measured, 80);
  the_observer(&o, Moment::ended, 0);
  nccl.finalize(context);
  const auto summaries = plugin.read();
  ASSERT_EQ(summaries.size(), 1u) << "NCCL's own communicator did nothing";
  const auto& classes = summaries.front().at("classes");
  ASSERT_EQ(classes.size(), 2u) << classes;
  const auto &direct = classes.at(0), &peer = classes.at(1);
  EXPECT_EQ(direct.at("gpu").at("count"), 1);
  EXPECT_EQ(direct.at("phases").at("transfer_ns"), 600);
  EXPECT_EQ(direct.at("phases").at("fold_ns"), 300);
  EXPECT_EQ(direct.at("phases").at("kernel_ns"), 0);
  EXPECT_EQ(peer.at("phases").at("kernel_ns"), 77);
  EXPECT_EQ(peer.at("phases").at("transfer_ns"), 0);
}

}  // namespace
}  // namespace detccl::test
