// SPDX-License-Identifier: Apache-2.0
// Tasks dealt to lanes: queues of transfers that go on side by side, each with a communicator, a stream and
// scratch of its own. A tick of one lane does not end with those of the others, so that one lane's launches
// and latencies pass while another one's bytes are on their way, and a link that one does not need is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/stream/batch.h"

namespace detccl::engine::stream {

/// Scratch of each of `lanes` lanes: slots in it are aligned as in one.
std::size_t lane_scratch(std::size_t scratch_limit, std::uint32_t lanes);

/// Lane k's batch is the k-th, with scratch from k times lane_scratch() of as many lanes as there are batches
/// on. Tasks that make up several waves are dealt wave by wave, in turn; in a lane wave follows wave, and
/// folds are in line with the transfers. One batch where there is one lane, or one wave: then as Batch() has
/// it. The same on every rank. A lane is to begin once the one before has carried out its first transfers,
/// for else all would want the same links at the same time; they need nothing of each other. Throws as
/// Batch().
std::vector<Batch> deal(std::vector<Task> tasks, std::size_t scratch_limit, std::uint32_t lanes);

}  // namespace detccl::engine::stream
