// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/settings.h"

namespace detccl::nccl_api {
namespace {

/// Two chunks under way: one is exchanged while the other is folded.
constexpr std::size_t kGpuScratch = std::size_t{64} << 20;

/// A launch costs as much time as some hundred KB on their way, so chunks are large.
engine::Tuning gpu_tuning() {
  engine::Tuning tuning;
  tuning.chunk_bytes = std::uint64_t{32} << 20;
  tuning.chained_chunk_bytes = std::uint64_t{1} << 20;
  tuning.gather_limit = std::uint64_t{2} << 20;
  return tuning;
}

}  // namespace

engine::Settings engine_settings(const Configuration& c, bool on_host) {
  engine::Settings settings;
  settings.contract = c.contract;
  settings.schedule = c.schedule;
  settings.chunk_bytes = c.chunk_bytes;
  settings.prove = c.prove;
  if (!on_host) {
    settings.tuning = gpu_tuning();
    settings.scratch_limit = kGpuScratch;
  }
  if (c.scratch_bytes != 0) settings.scratch_limit = c.scratch_bytes;
  return settings;
}

}  // namespace detccl::nccl_api
