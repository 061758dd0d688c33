// SPDX-License-Identifier: Apache-2.0
// The root of one communicator: it gathers what the ranks have to tell each other (their transport addresses
// at first; colors, keys and ids when the communicator is split), and watches whether they are alive: a
// connection that ends without a goodbye is a dead rank, and all others are told.
// Driven by the service's thread (root_service.h) alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostnccl/connection.h"
#include "hostnccl/unique_id.h"

namespace detccl::hostnccl {

/// What a rank says first.
struct Hello {
  Magic magic{};
  std::uint32_t size = 0, rank = 0;
  std::string blob;

  static Hello read(const Message& message);
  Message write() const;
};

class Root {
 public:
  /// Takes in a rank's connection. One that does not fit (another size, a number out of range or taken) makes
  /// the communicator fail for everyone.
  void join(Connection connection, const Hello& hello);

  /// The connections to wait for.
  std::vector<int> descriptors() const;
  bool unsent(int fd) const;

  /// Handles what connection `fd` has to say, and sends what is queued for it.
  void serve(int fd);

  /// Tells everyone that the root's process ends in good order.
  void leave();

  /// Whether nobody needs this root any more: every rank has left. One that failed before all had joined
  /// stays a while for those that come late: they are to hear why.
  bool finished(std::chrono::steady_clock::time_point now) const;

 private:
  struct Request {
    std::uint64_t ticket = 0;
    std::vector<std::uint32_t> members;
    std::string blob;
  };
  struct Member {
    std::optional<Connection> connection;  ///< none: gone
    bool left = false;                     ///< said goodbye
    std::optional<Request> request;        ///< a gather that waits for other members
  };

  void handle(std::uint32_t rank, const Message& message);
  void answer(const std::vector<std::uint32_t>& members);
  void refuse_gathers_with(std::uint32_t gone);
  void lost(std::uint32_t rank);
  void fail(const std::string& text);
  void announce_if_all_left();
  std::string missing() const;

  std::uint32_t size_ = 0;  ///< 0: nobody has joined yet
  std::map<std::uint32_t, Member> members_;
  std::vector<Connection> refused_;  ///< kept until they are closed by the other side
  bool complete_ = false;            ///< all have joined
  std::uint32_t attempts_ = 0;       ///< to join
  std::string failure_;
  std::chrono::steady_clock::time_point failed_at_{};
};

}  // namespace detccl::hostnccl
