// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "contract/types.h"
#include "device/cuda/peer/peer.h"

namespace detccl::peer_bench {

struct Options {
  std::uint64_t begin_bytes = 1024;  ///< of the whole message
  std::uint64_t end_bytes = std::uint64_t{256} << 20;
  std::uint64_t factor = 4;
  int warmups = 1;  ///< not used: every series has one run before it
  int samples = 7;
  std::vector<contract::DataType> types = {contract::DataType::bfloat16, contract::DataType::float32};
  std::vector<std::uint32_t> ranks = {2, 4, 8};
  std::vector<std::uint32_t> block_counts = {8, 16, 32};
  std::uint32_t blocks = 8;
  std::string json;
};

struct Row {
  plan::Collective collective = plan::Collective::all_reduce;
  device::cuda::peer::Mode mode = device::cuda::peer::Mode::two_shot;
  contract::DataType type = contract::DataType::bfloat16;
  std::uint32_t ranks = 0, blocks = 0;
  std::uint64_t bytes = 0;  ///< of the message
  std::uint64_t moved = 0;  ///< bytes that all ranks read and write
  std::vector<double> seconds;
  std::vector<double> recorded_seconds;  ///< the kernels take digests of what they get and give, and record
  std::vector<double> beside_seconds;    ///< kernels of their own do that
  std::vector<double> empty_seconds;     ///< kernels of the same shape that do nothing
  std::vector<double> copy_seconds;      ///< large messages: a copy that moves as many bytes
};

void measure(const Options& options, const std::function<void(const Row&)>& done);

}  // namespace detccl::peer_bench
