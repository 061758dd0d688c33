// SPDX-License-Identifier: Apache-2.0
// The library's own reductions, as NCCL's ring does them: values pass along a ring in placement order and are
// rounded to the payload type at every hop. What is summed in which order (ring positions, wrapping):
//   all_reduce, reduce_scatter   chunk c: c+1, c+2, …, c (its owner is last)
//   reduce                       next(root), …, root
// The bits therefore depend on where a rank sits and on where the chunks' borders fall, which is the point.
// Steps: all_reduce 2(n-1), reduce_scatter n-1, reduce n-1. Peers: the two neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace detccl::hostnccl {

/// ring[p] is the rank at position p.
using Ring = std::vector<std::uint32_t>;

std::uint32_t position_of(const Ring& ring, std::uint32_t rank);

/// Chunk c of the message (owner: position c) is the elements [starts[c], starts[c] + counts[c]).
plan::Program ring_all_reduce(const Ring& ring, std::uint32_t rank, std::span<const std::uint64_t> starts,
                              std::span<const std::uint64_t> counts);

/// Rank r's shard starts at r * stride in the input; `count` elements of each are reduced.
plan::Program ring_reduce_scatter(const Ring& ring, std::uint32_t rank, std::uint64_t stride,
                                  std::uint64_t count);

/// The result is written at the root only.
plan::Program ring_reduce(const Ring& ring, std::uint32_t rank, std::uint32_t root, std::uint64_t count);

/// From the root along the ring.
plan::Program ring_broadcast(const Ring& ring, std::uint32_t rank, std::uint32_t root, std::uint64_t count,
                             bool in_place);

}  // namespace detccl::hostnccl
