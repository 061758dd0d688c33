// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/sampling.h"

#include <new>

#include "contract/types.h"
#include "nccl_api/teller.h"

namespace detccl::nccl_api {

Sampling::Willing Sampling::look_at(const QueuedReduction& reduction) {
  const engine::Reduction& call = reduction.call;
  const std::size_t bytes = call.count * contract::size_of(call.type);
  obstacle_ = nullptr;
  if (observer() == nullptr) {
    obstacle_ = "nobody listens";
  } else if (!reduction.alone) {
    obstacle_ = "grouped";
  } else if (bytes > kMostSampledBytes) {
    obstacle_ = "memory";
  } else {
    try {
      if (bytes > memory_.size()) memory_.resize(bytes);
    } catch (const std::bad_alloc&) {
      obstacle_ = "memory";
    }
  }
  if (obstacle_ != nullptr) return not_at_all;
  const auto* send = static_cast<const std::byte*>(call.send);
  const auto* receive = static_cast<const std::byte*>(call.receive);
  // Whether our result would overwrite the input; a shard's place in it may be anywhere.
  const std::size_t all = call.collective == plan::Collective::reduce_scatter ? bytes * ranks_ : bytes;
  const bool in_place = receive != nullptr && receive < send + all && send < receive + bytes;
  return in_place ? native_first : in_any_order;
}

engine::Reduction Sampling::agreement() {
  engine::Reduction least;
  least.type = contract::DataType::int32;
  least.op = contract::Op::min;
  least.send = &willing;
  least.receive = &agreed;
  least.count = 1;
  return least;
}

}  // namespace detccl::nccl_api
