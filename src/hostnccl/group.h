// SPDX-License-Identifier: Apache-2.0
// Group semantics: a thread's calls between the outermost GroupStart and GroupEnd are kept, and carried out
// together at its end: first new communicators, then operations, then finalize and destroy.
// Every call of the API that belongs into groups opens one of its own, so there is one way to carry them out.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hostnccl/communicator.h"
#include "hostnccl/operation.h"

namespace detccl::hostnccl {

/// A communicator to be made at the group's end.
struct Creation {
  /// Whose calls wait for it: the new communicator, or the parent of a split or shrink.
  std::shared_ptr<Communicator> carrier;
  std::function<void()> work;    ///< makes it; throws Error
  std::function<void()> cancel;  ///< takes back what the call did before; must not throw
  bool background = false;       ///< the carrier is nonblocking
};

/// One per thread.
class Group {
 public:
  static Group& current();

  void start() { ++depth_; }

  /// Ends one level; the outermost carries everything out. Returns the group's error, having launched
  /// nothing, if one of its calls failed; ncclInProgress if something goes on in the background.
  ncclResult_t end() noexcept;

  /// Ends one level; the outermost forgets everything.
  ncclResult_t simulate_end() noexcept;

  /// A call in the group has failed.
  void poison(ncclResult_t error);

  void add(std::shared_ptr<Communicator> communicator, const Operation& operation);
  void add(Creation creation);
  /// To be done last (finalize, destroy).
  void add_last(std::function<void()> action);

 private:
  struct Pending {
    std::shared_ptr<Communicator> communicator;
    Operation operation;
  };
  struct Contents {
    std::vector<Creation> creations;
    std::vector<Pending> operations;
    std::vector<std::function<void()>> last;
    ncclResult_t error = ncclSuccess;
  };
  static void cancel(const Contents& contents) noexcept;
  static ncclResult_t carry_out(Contents contents);
  bool leave_level(ncclResult_t& result, Contents& contents) noexcept;

  int depth_ = 0;
  Contents contents_;
};

/// Runs `call(group)` as part of the thread's group, or of one of its own. An Error poisons the group.
ncclResult_t grouped(const std::function<void(Group&)>& call) noexcept;

}  // namespace detccl::hostnccl
