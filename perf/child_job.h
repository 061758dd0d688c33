// SPDX-License-Identifier: Apache-2.0
// One rank of a sweep in a process of its own, started by a supervisor that passes on what ranks tell each
// other: so that each schedule has a fresh process, and one that dies or hangs ends no sweep.
#pragma once

#include <cstdint>
#include <string>

#include "job.h"

namespace detccl::perf {

/// What a child sends: a header, then `bytes` bytes. The answer to `slot` is every rank's slot.
enum class Message : std::uint32_t { slot = 1, record = 2, end = 3 };
struct Header {
  Message kind = Message::end;
  std::uint32_t step = 0;   ///< `end`: the exit code
  std::uint32_t bytes = 0;  ///< at most 1 MiB
};

/// Whole, or false where the other end is gone.
bool send_all(int fd, const void* data, std::size_t bytes);
bool receive_all(int fd, void* data, std::size_t bytes);

class ChildJob : public Job {
 public:
  /// `fd`: the socket to the supervisor.
  ChildJob(int fd, int rank, int ranks) : Job(rank, ranks), fd_(fd) {}

  /// Hands a result to the supervisor. Not collective.
  void send_record(const std::string& json_text);
  void send_end(int exit_code);

 protected:
  void exchange(const Slot& mine, std::span<Slot> all) override;

 private:
  void send(Message kind, std::uint32_t step, const void* data, std::size_t bytes);

  int fd_;
};

}  // namespace detccl::perf
