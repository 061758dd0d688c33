// SPDX-License-Identifier: Apache-2.0
// The whole transport contract: one rank's end of a communicator that moves bytes by (peer, tag).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace detccl::transport {

/// Told by the exchange when a send's data may be reused or a receive's data are there.
struct Completion {
  enum class State : std::uint8_t { pending, done, failed };
  std::atomic<State> state{State::pending};
};

/// Thread rule: one thread at a time may call into an exchange (loop exchanges of one fabric may be driven by
/// different threads). Nothing here blocks. Errors arrive in completions and failure(), nothing throws.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;

  /// Starts a send or a receive of exactly `bytes` (0 allowed) to or from `peer` (not the own rank). A send
  /// pairs with the receive of the same tag at the peer, and among equal tags in order. Tags have 48 bits.
  /// `data` and `completion` must live until the completion is no longer pending, or abandon() has returned.
  virtual void send(std::uint32_t peer, std::uint64_t tag, const void* data, std::size_t bytes,
                    Completion& completion) = 0;
  virtual void receive(std::uint32_t peer, std::uint64_t tag, void* data, std::size_t bytes,
                       Completion& completion) = 0;

  /// Moves things on. Whether anything moved, as far as it can tell.
  virtual bool progress() = 0;

  /// Whether the peers need no more progress() of this side for what is complete here: the word that a
  /// receive is done may itself still wait for room on its way to the sender. To be asked, with progress() in
  /// between, until it is true, before a rank turns to something else; nothing may be under way.
  virtual bool settled() { return true; }

  /// Gives up everything under way: afterwards no completion and no data handed in is touched again, at least
  /// from this side, and only failure() and the destructor may be called.
  virtual void abandon() = 0;

  /// Why the exchange can no longer be used (a peer died, say); empty while it is sound.
  virtual std::string failure() const = 0;
};

}  // namespace detccl::transport
