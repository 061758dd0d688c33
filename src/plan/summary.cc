// SPDX-License-Identifier: Apache-2.0
#include "plan/summary.h"

#include <algorithm>
#include <vector>

namespace detccl::plan {

Cost cost(const Spec& spec, std::uint32_t rank, contract::DataType type, std::uint32_t near) {
  const std::uint64_t payload = contract::size_of(type);
  const std::uint64_t accumulated =
      contract::size_of(contract::accumulation_type(type, spec.contract.accumulate));
  const auto size_of = [&](Form form) { return form == Form::partial ? accumulated : payload; };

  Cost total;
  std::vector<std::uint32_t> peers;
  for (const Piece& piece : pieces(spec)) {
    const Program program = build(piece.spec, rank);
    std::uint64_t scratch = 0;
    for (const Slot& slot : program.slots)
      scratch += slot.elements * size_of(slot.form);
    total.scratch_bytes = std::max(total.scratch_bytes, scratch);
    total.stages += program.stages.size();
    for (const Stage& stage : program.stages) {
      for (const Transfer& t : stage.sends) {
        total.bytes_sent += t.region.count * size_of(t.region.form);
        peers.push_back(t.peer);
      }
      for (const Transfer& t : stage.receives) {
        total.bytes_received += t.region.count * size_of(t.region.form);
        peers.push_back(t.peer);
      }
    }
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  }
  total.peers = peers.size();
  total.near_peers = static_cast<std::uint64_t>(std::count_if(
      peers.begin(), peers.end(), [=](std::uint32_t peer) { return peer / near == rank / near; }));
  return total;
}

}  // namespace detccl::plan
