// SPDX-License-Identifier: Apache-2.0
// A region of GPU memory of every rank of a group, mapped into all of them: between GPUs of one process
// directly, between processes of one host by CUDA IPC.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace detccl::transport {

/// What a rank tells the others, as bytes.
struct PeerCard {
  void set_problem(std::string_view text);

  std::uint64_t host = 0;     ///< the same for ranks of one host, which the caller knows
  std::uint64_t process = 0;  ///< a number that no other process has
  std::uint64_t bytes = 0;    ///< of the region
  std::byte* region = nullptr;
  cudaIpcMemHandle_t handle = {};
  std::int32_t device = 0;
  std::array<char, 132> problem = {};  ///< why this rank cannot take part; empty if it can
};

/// Thread rule: one thread at a time.
class PeerMemory {
 public:
  /// The own region on the current device, all zeros. Never throws: a failure is in the card. None where
  /// there is a `problem` already, which then is in the card.
  PeerMemory(std::uint64_t host, std::uint64_t bytes, std::string_view problem = {});
  /// Unmaps the others' regions and frees the own one, unless it was left to them. The device must be
  /// current.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  const PeerCard& card() const { return card_; }
  /// Maps the others' regions; cards[r] is rank r's, the own one at `rank`. What has gone wrong, if anything.
  std::optional<std::string> map(std::span<const PeerCard> cards, std::uint32_t rank);
  /// Takes back what map() has done. A region may only be freed when all others have unmapped it.
  void unmap();
  /// Every rank's region, as this rank reaches it.
  std::span<std::byte* const> regions() const { return regions_; }

  /// The own region stays where it is for the rest of the process's life: others may still write to it.
  void leave() { left_ = true; }

 private:
  PeerCard card_;
  std::vector<std::byte*> regions_;
  std::vector<void*> opened_;
  bool left_ = false;
};

/// "rank 3: …" for the first card that cannot take part or does not go with the others'; the same on every
/// rank.
std::optional<std::string> find_problem(std::span<const PeerCard> cards);

}  // namespace detccl::transport
