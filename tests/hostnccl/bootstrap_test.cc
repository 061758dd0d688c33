// SPDX-License-Identifier: Apache-2.0
// Ranks that do not fit together, strangers at the root's door, environment variables with bad values.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "ranks.h"

namespace detccl::test {
namespace {

/// What came of an attempt to join.
struct Attempt {
  ncclResult_t result = ncclSuccess;
  std::string error;
};

/// All ranks must fail, each with a text that says `what`.
void expect_all_fail(const std::vector<Attempt>& attempts, const std::string& what) {
  for (const Attempt& attempt : attempts) {
    EXPECT_NE(attempt.result, ncclSuccess);
    EXPECT_NE(attempt.error.find(what), std::string::npos) << attempt.error;
  }
}

struct Seat {
  int ranks, rank;
};

/// Joins with one thread per seat; those that succeed destroy their communicator again.
std::vector<Attempt> join(const std::vector<Seat>& seats, const ncclUniqueId& id) {
  std::vector<Attempt> attempts(seats.size());
  on_threads(static_cast<int>(seats.size()), [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    ncclComm_t comm = nullptr;
    attempts[at].result = ncclCommInitRank(&comm, seats[at].ranks, id, seats[at].rank);
    attempts[at].error = ncclGetLastError(nullptr);
    if (comm != nullptr) must(ncclCommDestroy(comm));
  });
  return attempts;
}

ncclUniqueId new_id() {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  return id;
}

TEST(Bootstrap, TwoRanksWithOneNumber) {
  expect_all_fail(join({{3, 0}, {3, 1}, {3, 1}}, new_id()), "two ranks have the number 1");
}

TEST(Bootstrap, DifferentNumbersOfRanks) {
  expect_all_fail(join({{3, 0}, {3, 1}, {4, 2}}, new_id()), "ranks, others with");
}

TEST(Bootstrap, AnIdServesOnce) {
  const ncclUniqueId id = new_id();
  EXPECT_EQ(join({{1, 0}}, id)[0].result, ncclSuccess);
  const auto second = join({{1, 0}}, id);
  EXPECT_EQ(second[0].result, ncclRemoteError) << second[0].error;
}

TEST(Bootstrap, DamagedIds) {
  ncclUniqueId id{};
  EXPECT_EQ(join({{1, 0}}, id)[0].result, ncclInvalidArgument);
  std::memset(id.internal, 0x5a, sizeof id.internal);
  EXPECT_EQ(join({{1, 0}}, id)[0].result, ncclInvalidArgument);
  id = new_id();
  for (std::size_t byte = 0; byte < 48; ++byte) {
    ncclUniqueId damaged = id;
    damaged.internal[byte] = static_cast<char>(damaged.internal[byte] ^ 1);
    EXPECT_EQ(join({{1, 0}}, damaged)[0].result, ncclInvalidArgument) << "byte " << byte;
  }
  EXPECT_EQ(join({{1, 0}}, id)[0].result, ncclSuccess);
}

/// A socket connected to the root of `id`, whose address stands after marker and format.
int stranger(const ncclUniqueId& id) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::memcpy(&address.sin_addr.s_addr, id.internal + 12, 4);
  std::memcpy(&address.sin_port, id.internal + 16, 2);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

/// A port scanner, a web browser, half a message, silence: they are shown the door, and nobody else notices.
TEST(Bootstrap, StrangersDoNoHarm) {
  const ncclUniqueId id = new_id();
  const std::string huge{"HCN1\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", 16}, web = "GET / HTTP/1.0\r\n\r\n";
  std::string hello("HCN1\1\0\0\0\7\0\0\0\0\0\0\0too few", 23);
  std::vector<int> sockets;
  for (const std::string& bytes : {huge, web, hello, std::string("HCN1"), std::string()}) {
    sockets.push_back(stranger(id));
    EXPECT_EQ(send(sockets.back(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    char byte = 0;
    EXPECT_LE(recv(sockets[i], &byte, 1, 0), 0) << "stranger " << i << " is still connected";
  }
  for (const Attempt& attempt : join({{2, 0}, {2, 1}}, id))
    EXPECT_EQ(attempt.result, ncclSuccess) << attempt.error;
  for (const int fd : sockets)
    close(fd);
}

Attempt init_with(const char* name, const char* value, int ranks = 1) {
  setenv(name, value, 1);
  const ncclUniqueId id = new_id();
  ncclComm_t comm = nullptr;
  Attempt attempt;
  attempt.result = ncclCommInitRank(&comm, ranks, id, 0);
  attempt.error = ncclGetLastError(nullptr);
  unsetenv(name);
  if (comm != nullptr) must(ncclCommDestroy(comm));
  return attempt;
}

TEST(Bootstrap, VariablesAreChecked) {
  for (const char* bad : {"0,0", "1", "0,2,1,1", "0,", ",", "a", "0, 1", "-1"}) {
    const Attempt attempt = init_with("HOSTNCCL_PLACEMENT", bad, 2);
    EXPECT_EQ(attempt.result, ncclInvalidUsage) << bad;
    EXPECT_NE(attempt.error.find(std::string("HOSTNCCL_PLACEMENT=") + bad), std::string::npos)
        << attempt.error;
  }
  const Attempt other_size = init_with("HOSTNCCL_PLACEMENT", "1,0,2", 2);
  EXPECT_EQ(other_size.result, ncclInvalidUsage);
  EXPECT_EQ(other_size.error, "HOSTNCCL_PLACEMENT names 3 ranks, the communicator has 2");
  for (const char* bad : {"soon", "-1", "1.5", "10s"}) {
    const Attempt attempt = init_with("HOSTNCCL_TIMEOUT", bad);
    EXPECT_EQ(attempt.result, ncclInvalidUsage) << bad;
    EXPECT_NE(attempt.error.find(std::string("HOSTNCCL_TIMEOUT=") + bad), std::string::npos) << attempt.error;
  }
  EXPECT_EQ(init_with("HOSTNCCL_PLACMENT", "0").result, ncclInvalidUsage);
  EXPECT_EQ(init_with("HOSTNCCL_TIMEOUT", "0").result, ncclSuccess);
  EXPECT_EQ(init_with("HOSTNCCL_PLACEMENT", "").result, ncclSuccess);
}

}  // namespace
}  // namespace detccl::test
