// SPDX-License-Identifier: Apache-2.0
// What stands behind an ncclComm_t.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/execution.h"
#include "hostnccl/config.h"
#include "hostnccl/control_line.h"
#include "hostnccl/profiler.h"
#include "hostnccl/registrations.h"
#include "hostnccl/ring_programs.h"
#include "hostnccl/settings.h"
#include "hostnccl/user_ops.h"
#include "transport/exchange.h"

namespace detccl::hostnccl {

class Communicator {
 public:
  struct Identity {
    std::uint32_t rank = 0, size = 1;
    int device = 0;
    Config config;
    Settings settings;
  };

  explicit Communicator(Identity identity) : identity_(std::move(identity)) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Identity& identity() const { return identity_; }
  std::uint32_t rank() const { return identity_.rank; }
  std::uint32_t size() const { return identity_.size; }

  /// What ncclCommGetAsyncError says. Looks whether a peer has died. Any thread.
  ncclResult_t result();

  /// Throws unless the communicator can be used: revoked, still being initialised, failed.
  void check_usable();
  /// As check_usable, but a revoked communicator will do (for split, shrink, and questions).
  void check_ready();

  /// From now on every call returns `code`. The first failure counts.
  void fail(ncclResult_t code, const std::string& text);
  std::string failure_text() const;

  /// While a split or shrink of a nonblocking communicator goes on in the background.
  void set_in_progress() { result_.store(ncclInProgress, std::memory_order_release); }
  /// Ends the initialisation, or set_in_progress(), unless it has failed meanwhile.
  void set_ready();

  /// Makes a waiting call return, in whatever state the communicator is.
  void interrupt() { aborted_.store(true, std::memory_order_release); }
  bool interrupted() const { return aborted_.load(std::memory_order_acquire); }
  Patience patience() const { return Patience::of(aborted_, identity_.settings.timeout); }

  /// Held by whoever sets the communicator up, runs operations on it or takes it down.
  std::mutex use;

  std::atomic<bool> revoked{false}, finalized{false};

  // Set by the bootstrap, under `use`, before the communicator is ready; they stay until it is destroyed.
  Ring ring;
  std::unique_ptr<ControlLine> control;
  std::unique_ptr<transport::Exchange> exchange;

  // Used under `use`.
  Profiler profiler;
  engine::Scratch scratch{kScratchLimit};
  std::uint32_t sequence = 0;  ///< of the next collective

  UserOps user_ops;
  Registrations registrations;

  /// A nonblocking initialisation or split. Started and joined by the functions that own the communicator.
  std::thread background;

 private:
  static constexpr std::size_t kScratchLimit = 16u << 20;

  const Identity identity_;
  std::atomic<ncclResult_t> result_{ncclInProgress};
  std::atomic<bool> aborted_{false};
  mutable std::mutex text_mutex_;
  std::string failure_text_;
};

}  // namespace detccl::hostnccl
