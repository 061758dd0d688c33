// SPDX-License-Identifier: Apache-2.0
#include "plan/prover/pairing.h"

#include <fmt/format.h>

#include <numeric>

#include "plan/prover/rejection.h"

namespace detccl::plan::prover {
namespace {

/// Transfers sorted by peer and, for each peer, by the own rank and then in program order: a counting sort.
struct ByPeer {
  std::vector<std::uint32_t> begin, list;

  ByPeer(const std::vector<std::uint32_t>& peer, std::uint32_t ranks)
      : begin(ranks + 1, 0), list(peer.size()) {
    for (const std::uint32_t p : peer)
      ++begin[p + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t i = 0; i < peer.size(); ++i)
      list[next[peer[i]]++] = i;
  }
};

/// Each transfer's stage. `first`: the member of FlatStage that says where its transfers begin.
std::vector<std::uint32_t> stage_of(const FlatPrograms& flat, std::uint32_t FlatStage::*first) {
  std::vector<std::uint32_t> list(flat.stages.back().*first);
  for (std::uint32_t s = 0; s < flat.stage_count(); ++s) {
    for (std::uint32_t i = flat.stages[s].*first; i < flat.stages[s + 1].*first; ++i)
      list[i] = s;
  }
  return list;
}

[[noreturn]] void reject_alone(const FlatPrograms& flat, bool is_send, std::uint32_t stage,
                               std::uint32_t peer) {
  throw Rejection(is_send ? fmt::format("{}: send to {}: no receive there", flat.where(stage), peer)
                          : fmt::format("{}: receive from {}: no send there", flat.where(stage), peer));
}

void check_pair(const FlatPrograms& flat, std::uint32_t send, std::uint32_t receive, std::uint32_t from,
                std::uint32_t to) {
  const Region& sent = flat.regions[flat.sends.region[send]];
  const Region& received = flat.regions[flat.receives.region[receive]];
  if (sent.count == received.count && sent.form == received.form) return;
  throw Rejection(fmt::format("{} sends {}, {} receives {}: count or form differ", flat.where(from),
                              describe(sent), flat.where(to), describe(received)));
}

}  // namespace

Pairing pair_transfers(const FlatPrograms& flat) {
  const std::uint32_t n = flat.ranks();
  const ByPeer receives(flat.receives.peer, n);  // by source, then destination
  const ByPeer sends(flat.sends.peer, n);        // by destination, then source
  const std::vector<std::uint32_t> send_stage = stage_of(flat, &FlatStage::sends);
  const std::vector<std::uint32_t> receive_stage = stage_of(flat, &FlatStage::receives);

  Pairing pairing;
  pairing.send_meets.resize(send_stage.size());
  pairing.receive_meets.resize(receive_stage.size());
  pairing.source.resize(receive_stage.size());
  // Sources come in ascending order, so each destination's sends are used up from the front.
  std::vector<std::uint32_t> next(sends.begin.begin(), sends.begin.end() - 1);
  for (std::uint32_t source = 0; source < n; ++source) {
    for (std::uint32_t at = receives.begin[source]; at < receives.begin[source + 1]; ++at) {
      const std::uint32_t receive = receives.list[at];
      const std::uint32_t to = receive_stage[receive], destination = flat.stages[to].rank;
      if (next[destination] == sends.begin[destination + 1]) reject_alone(flat, false, to, source);
      const std::uint32_t send = sends.list[next[destination]++];
      const std::uint32_t from = send_stage[send];
      if (flat.stages[from].rank < source) reject_alone(flat, true, from, destination);
      if (flat.stages[from].rank > source) reject_alone(flat, false, to, source);
      check_pair(flat, send, receive, from, to);
      pairing.send_meets[send] = to;
      pairing.receive_meets[receive] = from;
      pairing.source[receive] = send;
    }
  }
  for (std::uint32_t destination = 0; destination < n; ++destination) {
    if (next[destination] == sends.begin[destination + 1]) continue;
    reject_alone(flat, true, send_stage[sends.list[next[destination]]], destination);
  }
  return pairing;
}

}  // namespace detccl::plan::prover
