// SPDX-License-Identifier: Apache-2.0
// Which send meets which receive: between two ranks the k-th send and the k-th receive.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/prover/flat_programs.h"

namespace detccl::plan::prover {

struct Pairing {
  std::vector<std::uint32_t> send_meets;     ///< per send: the receive's stage
  std::vector<std::uint32_t> receive_meets;  ///< per receive: the send's stage
  std::vector<std::uint32_t> source;         ///< per receive: the send
};

/// In time linear in ranks and transfers. Throws Rejection where a transfer has no partner, or one of another
/// count or form.
Pairing pair_transfers(const FlatPrograms& flat);

}  // namespace detccl::plan::prover
