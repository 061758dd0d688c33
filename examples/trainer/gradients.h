// SPDX-License-Identifier: Apache-2.0
// Averages gradients over the ranks, a bucket at a time: by AllReduce, each rank then updating all weights,
// or by ReduceScatter, each rank then updating its own shards and an AllGather spreading the new weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "communicator.h"
#include "options.h"

namespace trainer {

/// Parameters [begin, end).
struct Range {
  std::size_t begin = 0, end = 0;
};

class GradientExchange {
 public:
  /// `parameters`: how many there are. The communicator must outlive the exchange.
  GradientExchange(Communicator& comm, const Options& options, std::size_t parameters);

  /// Replaces each gradient of an owned range by its average over the ranks. `gradients`: all parameters.
  void average(std::span<float> gradients);

  /// The parameters that this rank updates.
  const std::vector<Range>& owned() const { return owned_; }

  /// Fills `values` (one per parameter) with each owner's; nothing to do where every rank owns everything.
  void share(std::span<float> values);

 private:
  /// A bucket holds parameters [begin, begin + count); on the device it is padded to ranks x shard elements.
  struct Bucket {
    std::size_t begin = 0, count = 0, shard = 0, device_begin = 0;
  };

  void reduce_bucket(const Bucket& bucket);
  /// The part of the bucket that this rank's shard covers.
  Range own_part(const Bucket& bucket) const;
  std::byte* at(const Buffer& buffer, std::size_t element, std::size_t element_size) const;

  Communicator& comm_;
  const Options& options_;
  std::size_t element_size_;
  std::vector<Bucket> buckets_;
  std::vector<Range> owned_;
  std::size_t padded_ = 0;          ///< device elements of all buckets
  std::vector<std::byte> staging_;  ///< padded_ gradients as they travel
  std::vector<float> shared_;       ///< padded_ values for share()
  Buffer gradients_, values_;
};

}  // namespace trainer
