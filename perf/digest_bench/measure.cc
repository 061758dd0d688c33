// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "fingerprint/cuda/digest.h"
#include "fingerprint/digest.h"
#include "gpu_bench/gpu.h"
#include "read_kernel.h"

namespace detccl::digest_bench {
namespace {

using fingerprint::Sums;

using gpu_bench::GpuMemory;
using gpu_bench::require;
using gpu_bench::Stopwatch;

/// Random bytes, the same block again and again; returns the block.
std::vector<std::uint64_t> fill(const GpuMemory& memory, std::uint64_t bytes) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> block((std::size_t{8} << 20) / 8 + 523);
  std::generate(block.begin(), block.end(), std::ref(random));
  const std::uint64_t size = block.size() * 8;
  for (std::uint64_t done = 0; done < bytes; done += size)
    require(
        cudaMemcpy(memory.data() + done, block.data(), std::min(size, bytes - done), cudaMemcpyHostToDevice));
  return block;
}

/// A digest that is fast but wrong is not worth measuring.
void check(const GpuMemory& memory, std::uint64_t bytes, const GpuMemory& result) {
  std::vector<std::byte> host(std::min<std::uint64_t>(bytes, std::uint64_t{256} << 20));
  require(cudaMemcpy(host.data(), memory.data(), host.size(), cudaMemcpyDeviceToHost));
  for (const std::size_t past : {0U, 2U}) {
    Sums expected, got;
    fingerprint::add(expected, host.data() + past, host.size() - past, 0);
    require(cudaMemset(result.data(), 0, sizeof(Sums)));
    require(fingerprint::cuda::digest(memory.data() + past, host.size() - past, 0, result.as<Sums>(), {},
                                      nullptr));
    require(cudaMemcpy(&got, result.data(), sizeof(got), cudaMemcpyDeviceToHost));
    if (got != expected) throw std::runtime_error("the GPU's digest is not the host's");
  }
}

/// The calls that are timed.
class Calls {
 public:
  Calls(const Options& o, const GpuMemory& memory, const GpuMemory& copied, const GpuMemory& result)
      : o_(o), memory_(memory), copied_(copied), result_(result) {
    int device = 0;
    require(cudaGetDevice(&device));
    require(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
  }

  cudaError_t call(What what, std::uint64_t bytes) const {
    namespace gpu = fingerprint::cuda;
    auto* const sums = result_.as<Sums>();
    switch (what) {
      case What::read:
        return read(memory_.data(), bytes, result_.as<std::uint64_t>(), multiprocessors_, nullptr);
      case What::copy:
        return cudaMemcpyAsync(copied_.data(), memory_.data(), bytes / 2, cudaMemcpyDeviceToDevice, nullptr);
      case What::digest:
        return gpu::digest(memory_.data(), bytes, 0, sums, {}, nullptr);
      case What::shifted:
        return gpu::digest(memory_.data() + 2, bytes, 0, sums, {}, nullptr);
      case What::chunks:
        return gpu::chunks(memory_.data(), bytes, (bytes / o_.chunks + 15) / 16 * 16, sums, {}, nullptr);
      case What::limited:
        return gpu::digest(memory_.data(), bytes, 0, sums, {o_.blocks}, nullptr);
      case What::torch:
        break;
    }
    return gpu::torch_hash(fingerprint::TorchType::bfloat16, memory_.data(), bytes / 2,
                           result_.as<std::uint64_t>(), {}, nullptr);
  }

 private:
  const Options& o_;
  const GpuMemory& memory_;
  const GpuMemory& copied_;
  const GpuMemory& result_;
  int multiprocessors_ = 0;
};

}  // namespace

void measure(const Options& o, const std::function<void(const Row&)>& done) {
  require(fingerprint::cuda::load_kernels());
  const GpuMemory memory(o.end_bytes + 16), copied(o.end_bytes / 2 + 16),
      result((o.chunks + 1) * sizeof(Sums));
  fill(memory, o.end_bytes + 16);
  check(memory, o.end_bytes, result);
  const Calls calls(o, memory, copied, result);
  Stopwatch stopwatch;
  for (std::uint64_t bytes = o.begin_bytes; bytes <= o.end_bytes; bytes *= o.factor) {
    Row row;
    row.bytes = bytes;
    // Several calls per sample, so that the events' own time is a small part of it.
    const int repeats = static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{4} << 30) / bytes, 1, 200));
    for (int i = -o.warmups; i < o.samples; ++i) {
      for (int what = 0; what < kWhatCount; ++what) {
        const double seconds =
            stopwatch.time(repeats, [&] { return calls.call(static_cast<What>(what), bytes); });
        if (i >= 0) row.rates[what].push_back(static_cast<double>(bytes) / seconds);
      }
    }
    done(row);
  }
}

}  // namespace detccl::digest_bench
