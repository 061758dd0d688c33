// SPDX-License-Identifier: Apache-2.0
// A rank's connection to the root of its communicator: bootstrap, gathers for split and shrink, and from then
// on the sign of life. Any thread may call it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hostnccl/connection.h"
#include "hostnccl/patience.h"
#include "hostnccl/unique_id.h"

namespace detccl::hostnccl {

class ControlLine {
 public:
  /// Connects to the root, says hello and waits until all ranks have done so: `blobs` gets theirs.
  /// Throws Error: ncclRemoteError when the root refuses, fails or cannot be reached.
  ControlLine(const RootAddress& root, std::uint32_t size, std::uint32_t rank, const std::string& blob,
              const Patience& patience, std::vector<std::string>& blobs);

  /// Tells what `members` (each of them calls it) have to say, in their order. Throws Error.
  /// `despite_failure`: also in a communicator that has failed.
  std::vector<std::string> gather(const std::vector<std::uint32_t>& members, const std::string& blob,
                                  const Patience& patience, bool despite_failure = false);

  /// Why the communicator has failed, as the root tells it or as its end shows; empty while it is sound.
  /// Cheap: looks at the socket at most every 10 ms.
  std::string failure();

  /// Makes the communicator fail at all other ranks.
  void report(const std::string& text);

  /// The communicator is being destroyed in good order. Afterwards only all_left() is of use.
  void goodbye();
  /// Whether nobody needs anything more from this rank: all have left, or the root is gone.
  bool all_left();

 private:
  void connect(const RootAddress& root, const Patience& patience);
  std::vector<std::string> await_table(std::uint64_t ticket, const Patience& patience, bool despite_failure,
                                       const std::string& what);
  void pump();
  void handle(const Message& message);

  std::mutex mutex_;  // guards what follows
  std::optional<Connection> connection_;
  std::string failure_;
  std::uint64_t last_ticket_ = 0;
  std::optional<std::uint64_t> table_ticket_, refused_ticket_;
  std::vector<std::string> table_;
  std::string refusal_;
  bool unwatched_ = false;  ///< the root's process has left in good order
  bool all_left_ = false;
  std::chrono::steady_clock::time_point next_look_{};
};

/// Tells the root of an id that it will not be used. Errors are of no interest.
void dismiss(const RootAddress& root) noexcept;

}  // namespace detccl::hostnccl
