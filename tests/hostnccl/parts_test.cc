// SPDX-License-Identifier: Apache-2.0
// Parts that can be looked at by themselves: interface selection, messages, the rings' programs.
#include <sys/socket.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "hostnccl/connection.h"
#include "hostnccl/interfaces.h"
#include "hostnccl/ring_programs.h"
#include "hostnccl/root.h"

namespace detccl::hostnccl {
namespace {

TEST(Interfaces, SelectionByName) {
  EXPECT_TRUE(selects("eth", "eth0"));
  EXPECT_TRUE(selects("ib,eth", "eth1"));
  EXPECT_FALSE(selects("ib,eth", "lo"));
  EXPECT_TRUE(selects("=eth0", "eth0"));
  EXPECT_FALSE(selects("=eth0", "eth01"));
  EXPECT_FALSE(selects("^docker,lo", "docker0"));
  EXPECT_TRUE(selects("^docker,lo", "eth0"));
  EXPECT_TRUE(selects("^=lo", "lo1"));
  EXPECT_FALSE(selects(",", "eth0"));
}

TEST(Interfaces, TheVariableMustNameOne) {
  setenv("NCCL_SOCKET_IFNAME", "=nosuch0", 1);
  try {
    listening_address();
    ADD_FAILURE() << "no such interface";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ncclInvalidUsage);
    EXPECT_NE(std::string(error.what()).find("NCCL_SOCKET_IFNAME==nosuch0"), std::string::npos)
        << error.what();
  }
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  EXPECT_EQ(listening_address().sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

TEST(Wire, ReaderRefusesWhatIsCutShort) {
  const std::string body = Writer().put(std::uint32_t{7}).put("abc").take();
  Reader whole(body);
  EXPECT_EQ(whole.get<std::uint32_t>(), 7u);
  EXPECT_EQ(whole.bytes(), "abc");
  EXPECT_THROW(whole.get<char>(), Error);
  for (std::size_t length = 0; length < body.size(); ++length) {
    Reader cut(std::string_view(body).substr(0, length));
    EXPECT_THROW(
        {
          cut.get<std::uint32_t>();
          cut.bytes();
        },
        Error)
        << length;
  }
}

/// Messages arrive whole, in order, however the stream cuts them.
TEST(Wire, MessagesOverASocketPair) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  Connection left{Descriptor(fds[0])}, right{Descriptor(fds[1])};
  const std::string large(3 << 20, 'x');
  EXPECT_TRUE(left.send({MessageType::report, "one"}));
  EXPECT_TRUE(left.send({MessageType::table, large}));
  EXPECT_TRUE(left.send({MessageType::goodbye, {}}));
  std::vector<Message> received;
  while (received.size() < 3) {
    ASSERT_TRUE(left.flush());
    ASSERT_TRUE(right.receive());
    while (auto message = right.next())
      received.push_back(*message);
  }
  EXPECT_FALSE(left.unsent());
  EXPECT_EQ(received[0].body, "one");
  EXPECT_EQ(received[1].body, large);
  EXPECT_EQ(received[2].type, MessageType::goodbye);
}

TEST(Wire, TooLongAMessageIsRefused) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  Connection left{Descriptor(fds[0])}, right{Descriptor(fds[1])};
  left.send({MessageType::hello, std::string(100, 'x')});
  ASSERT_TRUE(right.receive());
  EXPECT_THROW(right.next(99), Error);
}

std::uint64_t total(const std::vector<plan::Transfer>& transfers) {
  std::uint64_t count = 0;
  for (const plan::Transfer& transfer : transfers)
    count += transfer.region.count;
  return count;
}

/// Every rank sends (and receives) 2(n-1)/n of the message, to (from) its neighbours only.
TEST(RingPrograms, AllReduceCost) {
  const Ring ring{3, 0, 2, 1};
  const std::vector<std::uint64_t> starts{0, 25, 50, 75}, counts{25, 25, 25, 25};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const plan::Program program = ring_all_reduce(ring, rank, starts, counts);
    EXPECT_EQ(program.stages.size(), 6u);
    const std::uint32_t position = position_of(ring, rank);
    std::uint64_t sent = 0, received = 0;
    for (const plan::Stage& stage : program.stages) {
      for (const plan::Transfer& t : stage.sends)
        EXPECT_EQ(t.peer, ring[(position + 1) % 4]);
      for (const plan::Transfer& t : stage.receives)
        EXPECT_EQ(t.peer, ring[(position + 3) % 4]);
      sent += total(stage.sends);
      received += total(stage.receives);
    }
    EXPECT_EQ(sent, 150u);
    EXPECT_EQ(received, 150u);
  }
}

/// Chunk c is summed from position c+1 on, and complete at position c.
TEST(RingPrograms, ChunksStartAfterTheirOwner) {
  const Ring ring{1, 2, 0};
  const std::vector<std::uint64_t> starts{0, 10, 20}, counts{10, 10, 10};
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const plan::Program program = ring_all_reduce(ring, rank, starts, counts);
    const std::uint32_t position = position_of(ring, rank);
    const plan::Region& first = program.stages[0].sends[0].region;
    EXPECT_EQ(first.buffer, plan::Buffer::input);
    EXPECT_EQ(first.offset, starts[(position + 2) % 3]);
    const plan::Region& last = program.stages[1].folds[0].result;
    EXPECT_EQ(last.buffer, plan::Buffer::output);
    EXPECT_EQ(last.offset, starts[position]);
  }
}

}  // namespace
}  // namespace detccl::hostnccl
