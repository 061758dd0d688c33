// SPDX-License-Identifier: Apache-2.0
#include "gradients.h"

#include <algorithm>
#include <cstring>

#include "bf16.h"

namespace trainer {
namespace {

std::size_t element_size(GradientType type) {
  return type == GradientType::bf16 ? 2 : 4;
}

void pack(std::span<const float> from, GradientType type, std::byte* to) {
  if (type == GradientType::float32) {
    std::memcpy(to, from.data(), from.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::uint16_t bits = to_bf16(from[i]);
    std::memcpy(to + 2 * i, &bits, 2);
  }
}

void unpack(const std::byte* from, GradientType type, std::span<float> to) {
  if (type == GradientType::float32) {
    std::memcpy(to.data(), from, to.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + 2 * i, 2);
    to[i] = from_bf16(bits);
  }
}

std::size_t padded_elements(std::size_t parameters, std::size_t bucket, std::size_t ranks) {
  std::size_t total = 0;
  for (std::size_t begin = 0; begin < parameters; begin += bucket) {
    const std::size_t count = std::min(bucket, parameters - begin);
    total += (count + ranks - 1) / ranks * ranks;
  }
  return total;
}

}  // namespace

GradientExchange::GradientExchange(Communicator& comm, const Options& options, std::size_t parameters)
    : comm_(comm),
      options_(options),
      element_size_(element_size(options.gradients)),
      padded_(padded_elements(parameters, options.bucket_bytes / element_size_,
                              static_cast<std::size_t>(comm.ranks()))),
      staging_(padded_ * element_size_),
      shared_(padded_),
      gradients_(comm.device(), padded_ * element_size_),
      values_(comm.device(), padded_ * sizeof(float)) {
  const auto ranks = static_cast<std::size_t>(comm.ranks());
  const std::size_t elements = options.bucket_bytes / element_size_;
  std::size_t device_begin = 0;
  for (std::size_t begin = 0; begin < parameters; begin += elements) {
    const std::size_t count = std::min(elements, parameters - begin);
    const std::size_t shard = (count + ranks - 1) / ranks;
    buckets_.push_back({begin, count, shard, device_begin});
    device_begin += shard * ranks;
  }
  if (options.reduction == Reduction::all_reduce) {
    owned_.push_back({0, parameters});
  } else {
    for (const Bucket& bucket : buckets_)
      owned_.push_back(own_part(bucket));
  }
}

Range GradientExchange::own_part(const Bucket& bucket) const {
  const std::size_t begin = std::min(static_cast<std::size_t>(comm_.rank()) * bucket.shard, bucket.count);
  const std::size_t end = std::min(begin + bucket.shard, bucket.count);
  return {bucket.begin + begin, bucket.begin + end};
}

std::byte* GradientExchange::at(const Buffer& buffer, std::size_t element, std::size_t size) const {
  return buffer.data() + element * size;
}

void GradientExchange::reduce_bucket(const Bucket& bucket) {
  const ncclDataType_t type = options_.gradients == GradientType::bf16 ? ncclBfloat16 : ncclFloat32;
  const ncclRedOp_t op = options_.average == Average::avg ? ncclAvg : ncclSum;
  std::byte* data = at(gradients_, bucket.device_begin, element_size_);
  if (options_.reduction == Reduction::all_reduce) {
    comm_.all_reduce(data, bucket.count, type, op);
  } else {
    std::byte* own =
        data + static_cast<std::size_t>(comm_.rank()) * bucket.shard * element_size_;  // in place
    comm_.reduce_scatter(data, own, bucket.shard, type, op);
  }
}

void GradientExchange::average(std::span<float> gradients) {
  for (const Bucket& b : buckets_) {
    pack(gradients.subspan(b.begin, b.count), options_.gradients,
         staging_.data() + b.device_begin * element_size_);
  }
  gradients_.upload(staging_.data(), staging_.size());
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (i % options_.group == 0) comm_.group_start();
    reduce_bucket(buckets_[i]);
    if ((i + 1) % options_.group == 0 || i + 1 == buckets_.size()) comm_.group_end();
  }
  comm_.wait();
  gradients_.download(staging_.data(), staging_.size());
  for (const Bucket& b : buckets_) {
    unpack(staging_.data() + b.device_begin * element_size_, options_.gradients,
           gradients.subspan(b.begin, b.count));
  }
  if (options_.average == Average::sum) {
    for (float& g : gradients)
      g /= static_cast<float>(comm_.ranks());
  }
}

void GradientExchange::share(std::span<float> values) {
  if (options_.reduction == Reduction::all_reduce) return;
  for (const Bucket& b : buckets_) {
    std::memcpy(&shared_[b.device_begin], &values[b.begin], b.count * sizeof(float));
  }
  values_.upload(shared_.data(), shared_.size() * sizeof(float));
  for (const Bucket& b : buckets_) {
    std::byte* data = at(values_, b.device_begin, sizeof(float));
    const std::byte* own = data + static_cast<std::size_t>(comm_.rank()) * b.shard * sizeof(float);
    comm_.all_gather(own, data, b.shard, ncclFloat32);
  }
  comm_.wait();
  values_.download(shared_.data(), shared_.size() * sizeof(float));
  for (const Bucket& b : buckets_) {
    std::memcpy(&values[b.begin], &shared_[b.device_begin], b.count * sizeof(float));
  }
}

}  // namespace trainer
