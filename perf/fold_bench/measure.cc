// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "contract/element.h"
#include "device/cuda/fold.h"
#include "gpu_bench/gpu.h"

namespace detccl::fold_bench {
namespace {

using device::cuda::Operand;

using gpu_bench::GpuMemory;
using gpu_bench::require;
using gpu_bench::Stopwatch;

/// Random payload, the same block again and again: values in [-1, 1), integers of any size.
void fill(std::byte* gpu, std::uint64_t bytes, contract::DataType type) {
  const std::size_t size = contract::size_of(type);
  std::mt19937_64 random(7);
  std::vector<std::byte> block((std::size_t{8} << 20) + 4096 + 24);  // no multiple of the operands' size
  for (std::size_t i = 0; i + size <= block.size(); i += size) {
    std::uint64_t bits = random();
    const float x = static_cast<float>(static_cast<std::int64_t>(bits)) * 0x1p-63F;
    if (type == contract::DataType::float64) bits = contract::bits_of(static_cast<double>(x));
    if (type == contract::DataType::float32) bits = contract::bits_of(x);
    if (type == contract::DataType::float16) bits = contract::encode<contract::Float16>(x);
    if (type == contract::DataType::bfloat16) bits = contract::encode<contract::Bfloat16>(x);
    if (type == contract::DataType::float8e4m3) bits = contract::encode<contract::Float8E4M3>(x);
    if (type == contract::DataType::float8e5m2) bits = contract::encode<contract::Float8E5M2>(x);
    std::memcpy(block.data() + i, &bits, size);
  }
  for (std::uint64_t done = 0; done < bytes; done += block.size()) {
    require(cudaMemcpy(gpu + done, block.data(), std::min<std::uint64_t>(block.size(), bytes - done),
                       cudaMemcpyHostToDevice));
  }
}

Rates measure_one(const Options& o, const device::cuda::Arithmetic& a, std::uint64_t bytes,
                  const GpuMemory& inputs, const GpuMemory& output) {
  const std::uint64_t total = (a.ranks + std::uint64_t{1}) * bytes;
  std::vector<Operand> operands;
  for (std::uint32_t i = 0; i < a.ranks; ++i)
    operands.push_back({inputs.data() + i * bytes, plan::Form::raw});
  const auto fold = [&](std::uint32_t blocks) {
    return device::cuda::fold(a, operands, output.data(), plan::Form::final,
                              bytes / contract::size_of(a.type), {blocks}, nullptr);
  };
  const bool digests = device::cuda::can_digest(a, a.ranks);
  const GpuMemory sums((a.ranks + std::size_t{1}) * sizeof(device::cuda::PlacedSums));
  auto* const of_operands = reinterpret_cast<device::cuda::PlacedSums*>(sums.data());
  const auto fold_and_digest = [&](device::cuda::PlacedSums* of_result) {
    return device::cuda::fold_and_digest(
        a, operands, output.data(), bytes / contract::size_of(a.type),
        {.first = 0, .count = a.ranks, .of_operands = of_operands, .of_result = of_result}, nullptr);
  };
  const auto copy = [&] {
    return cudaMemcpyAsync(output.data(), inputs.data(), total / 2, cudaMemcpyDeviceToDevice, nullptr);
  };
  // Several calls per sample, so that the events' own time is a small part of it.
  const int repeats = static_cast<int>(std::max<std::uint64_t>(1, (std::uint64_t{2} << 30) / total));
  const auto moved = static_cast<double>(total);
  Stopwatch stopwatch;
  Rates rates;
  for (int i = -o.warmups; i < o.samples; ++i) {
    const double copied = moved / stopwatch.time(repeats, copy);
    const double folded = moved / stopwatch.time(repeats, [&] { return fold(0); });
    const double limited = moved / stopwatch.time(repeats, [&] { return fold(o.blocks); });
    if (i < 0) continue;
    rates.copy.push_back(copied);
    rates.fold.push_back(folded);
    rates.limited.push_back(limited);
    if (!digests) continue;
    rates.inputs_digested.push_back(moved /
                                    stopwatch.time(repeats, [&] { return fold_and_digest(nullptr); }));
    rates.all_digested.push_back(
        moved / stopwatch.time(repeats, [&] { return fold_and_digest(of_operands + a.ranks); }));
  }
  return rates;
}

}  // namespace

void measure(const Options& o, const std::function<void(const Row&)>& done) {
  require(device::cuda::load_kernels());
  const std::uint64_t most = *std::max_element(o.operands.begin(), o.operands.end());
  const GpuMemory inputs(most * o.end_bytes), output((most + 1) * o.end_bytes / 2 + o.end_bytes);
  for (const contract::DataType type : o.types) {
    fill(inputs.data(), most * o.end_bytes, type);
    for (std::uint64_t bytes = o.begin_bytes; bytes <= o.end_bytes; bytes *= o.factor) {
      for (const std::uint32_t operands : o.operands) {
        const device::cuda::Arithmetic a{
            type, contract::Op::sum, o.contract.order, o.contract.accumulate, operands, 0};
        done({type, operands, bytes, measure_one(o, a, bytes, inputs, output)});
      }
    }
  }
}

}  // namespace detccl::fold_bench
