// SPDX-License-Identifier: Apache-2.0
#include "transport/loop/loop_fabric.h"

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace detccl::transport {
namespace {

using Done = Completion::State;

/// A posted operation whose other side has not arrived yet.
struct Posted {
  bool is_send = false;
  const void* source = nullptr;
  void* destination = nullptr;
  std::size_t bytes = 0;
  Completion* completion = nullptr;
};

/// The last touch of a completion: its owner may free it as soon as the state is no longer pending.
void finish(Completion& completion, Done state) {
  completion.state.store(state, std::memory_order_release);
}

std::uint64_t key_of(std::uint32_t source, std::uint64_t tag) {
  return std::uint64_t{source} << 48 | tag;
}

/// Where a rank's receives and the sends to it meet. Data are copied under the lock, so that abandon() on
/// either side means that nothing is touched afterwards.
struct Mailbox {
  std::mutex mutex;
  std::multimap<std::uint64_t, Posted> posted;  ///< by (source, tag), equal keys in order of arrival
};

struct Rank {
  Mailbox mailbox;
  std::mutex mutex;  ///< guards the rest; taken after a mailbox's, never before
  std::string failure;
  bool gone = false;
  bool taken = false;
};

void set_failure(Rank& rank, const std::string& text) {
  const std::lock_guard lock(rank.mutex);
  if (rank.failure.empty()) rank.failure = text;
}

bool is_gone(Rank& rank) {
  const std::lock_guard lock(rank.mutex);
  return rank.gone;
}

std::string gone_text(std::uint32_t rank) {
  return "rank " + std::to_string(rank) + " has left";
}

}  // namespace

struct LoopFabric::State {
  explicit State(std::uint32_t n) : ranks(n) {}

  void post(std::uint32_t source, std::uint32_t destination, std::uint64_t tag, const Posted& mine);
  void leave(std::uint32_t rank);

  class End;
  std::vector<Rank> ranks;
};

void LoopFabric::State::post(std::uint32_t source, std::uint32_t destination, std::uint64_t tag,
                             const Posted& mine) {
  const std::uint32_t own = mine.is_send ? source : destination;
  const std::uint32_t peer = mine.is_send ? destination : source;
  Mailbox& box = ranks[destination].mailbox;
  const std::lock_guard lock(box.mutex);
  const std::uint64_t key = key_of(source, tag);
  const auto found = box.posted.lower_bound(key);  // of equal keys, the oldest
  if (found == box.posted.end() || found->first != key || found->second.is_send == mine.is_send) {
    if (is_gone(ranks[peer])) {
      set_failure(ranks[own], gone_text(peer));
      return finish(*mine.completion, Done::failed);
    }
    box.posted.emplace(key, mine);
    return;
  }
  const Posted theirs = found->second;
  box.posted.erase(found);
  const Posted& send = mine.is_send ? mine : theirs;
  const Posted& receive = mine.is_send ? theirs : mine;
  const bool fits = send.bytes == receive.bytes;
  if (!fits) {
    const std::string text = "rank " + std::to_string(source) + " sent " + std::to_string(send.bytes) +
                             " bytes where rank " + std::to_string(destination) + " expected " +
                             std::to_string(receive.bytes);
    set_failure(ranks[source], text);
    set_failure(ranks[destination], text);
  } else if (send.bytes != 0) {
    std::memcpy(receive.destination, send.source, send.bytes);
  }
  finish(*theirs.completion, fits ? Done::done : Done::failed);
  finish(*mine.completion, fits ? Done::done : Done::failed);
}

/// Drops all of the rank's operations and fails what waits for them. Marked as gone first: whoever posts
/// afterwards sees the mark, whoever posted before is found in the mailboxes.
void LoopFabric::State::leave(std::uint32_t rank) {
  {
    const std::lock_guard lock(ranks[rank].mutex);
    if (ranks[rank].gone) return;
    ranks[rank].gone = true;
    if (ranks[rank].failure.empty()) ranks[rank].failure = "abandoned";
  }
  for (std::uint32_t owner = 0; owner < ranks.size(); ++owner) {
    Mailbox& box = ranks[owner].mailbox;
    const std::lock_guard lock(box.mutex);
    const bool own = owner == rank;
    auto at = own ? box.posted.begin() : box.posted.lower_bound(key_of(rank, 0));
    const auto end =
        own || rank + 1 == ranks.size() ? box.posted.end() : box.posted.lower_bound(key_of(rank + 1, 0));
    while (at != end) {
      const Posted& entry = at->second;
      if (entry.is_send == own) {  // the other side's: a send to the rank, a receive from it
        set_failure(ranks[own ? at->first >> 48 : owner], gone_text(rank));
        finish(*entry.completion, Done::failed);
      }
      at = box.posted.erase(at);
    }
  }
}

/// One rank's end of the fabric.
class LoopFabric::State::End final : public Exchange {
 public:
  End(std::shared_ptr<State> state, std::uint32_t rank) : state_(std::move(state)), rank_(rank) {}
  ~End() override { state_->leave(rank_); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(state_->ranks.size()); }
  void send(std::uint32_t peer, std::uint64_t tag, const void* data, std::size_t bytes,
            Completion& completion) override {
    completion.state.store(Done::pending, std::memory_order_relaxed);
    state_->post(rank_, peer, tag, {true, data, nullptr, bytes, &completion});
  }
  void receive(std::uint32_t peer, std::uint64_t tag, void* data, std::size_t bytes,
               Completion& completion) override {
    completion.state.store(Done::pending, std::memory_order_relaxed);
    state_->post(peer, rank_, tag, {false, nullptr, data, bytes, &completion});
  }
  bool progress() override { return false; }  // the others do it
  void abandon() override { state_->leave(rank_); }
  std::string failure() const override {
    const std::lock_guard lock(state_->ranks[rank_].mutex);
    return state_->ranks[rank_].failure;
  }

 private:
  std::shared_ptr<State> state_;
  std::uint32_t rank_;
};

LoopFabric::LoopFabric(std::uint32_t ranks) : state_(std::make_shared<State>(ranks)) {
}
LoopFabric::~LoopFabric() = default;

std::unique_ptr<Exchange> LoopFabric::exchange(std::uint32_t rank) {
  Rank& own = state_->ranks.at(rank);
  const std::lock_guard lock(own.mutex);
  if (own.taken) throw std::logic_error("the exchange of rank " + std::to_string(rank) + " was taken before");
  own.taken = true;
  return std::make_unique<State::End>(state_, rank);
}

}  // namespace detccl::transport
