// SPDX-License-Identifier: Apache-2.0
// Communicators that are the same in two traces although their keys differ.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "trace/tables.h"

namespace detccl::trace {

/// From keys of B to keys of A. Where ranks do not talk to each other (DETCCL_DISABLE, a communicator that
/// could not be connected), a trace does not know a communicator's members. It is then the one of the other
/// trace that was made as the same one in its process, with the same size, rank and name, if there is only
/// one such on either side. Of those whose key both have nothing is said.
std::map<std::uint64_t, std::uint64_t> counterparts(std::span<const Communicator> a,
                                                    std::span<const Communicator> b);

}  // namespace detccl::trace
