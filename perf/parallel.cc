// SPDX-License-Identifier: Apache-2.0
#include "parallel.h"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace detccl::perf {

std::uint64_t sum_in_parallel(int ranks, std::uint64_t begin, std::uint64_t end, std::uint64_t block,
                              const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& work) {
  const std::uint64_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t blocks = (end - begin + block - 1) / block;
  const std::uint64_t share = std::clamp<std::uint64_t>(processors / static_cast<unsigned>(ranks), 1, 16);
  const std::uint64_t threads = std::clamp<std::uint64_t>(blocks, 1, share);
  std::vector<std::future<std::uint64_t>> parts;
  for (std::uint64_t t = 0; t < threads; ++t) {
    const std::uint64_t from = begin + blocks * t / threads * block;
    const std::uint64_t to = std::min(end, begin + blocks * (t + 1) / threads * block);
    const auto policy = threads == 1 ? std::launch::deferred : std::launch::async;
    parts.push_back(std::async(policy, [&work, from, to] { return work(from, to); }));
  }
  std::uint64_t sum = 0;
  for (auto& part : parts)
    sum += part.get();
  return sum;
}

}  // namespace detccl::perf
