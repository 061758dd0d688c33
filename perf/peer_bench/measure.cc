// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "empty_kernel.h"
#include "ranks.h"
#include "recorder/cuda/record.h"

namespace detccl::peer_bench {
namespace {

using gpu_bench::GpuMemory;
using gpu_bench::Stopwatch;
using peer::Mode;
using plan::Collective;

constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;  ///< compared with a copy

/// What the schedule reads and writes of memory, all ranks together.
std::uint64_t moved_bytes(Collective collective, Mode mode, std::uint64_t ranks, std::uint64_t bytes) {
  const std::uint64_t others = bytes * (ranks - 1) / ranks, own = bytes / ranks;
  std::uint64_t each = 0;
  if (mode == Mode::shard_packets) {
    each = bytes + 2 * (2 * others * 2) + bytes;  // values and results
  } else if (mode == Mode::packets) {
    each = bytes + 2 * bytes * (ranks - 1) * 2 + bytes;  // a packet is twice its payload
    if (collective == Collective::reduce_scatter) each = each / ranks;
  } else if (mode == Mode::one_shot) {
    each = 2 * bytes * (ranks - 1) + ranks * bytes + bytes;  // sent to each, folded
  } else {
    each = 2 * others + bytes;  // sent, folded
    each += collective == Collective::all_reduce ? bytes + 2 * others : own;
  }
  return each * ranks;
}

std::vector<double> time_copies(std::uint64_t moved, int samples) {
  const std::uint64_t bytes = std::min<std::uint64_t>(moved / 2, std::uint64_t{1} << 30);
  const GpuMemory from(bytes), to(bytes);
  Stopwatch stopwatch;
  std::vector<double> seconds;
  for (int i = -1; i < samples; ++i) {
    const double time = stopwatch.time(
        4, [&] { return cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, nullptr); });
    if (i >= 0) seconds.push_back(time * static_cast<double>(moved) / static_cast<double>(2 * bytes));
  }
  return seconds;
}

/// The same operations recorded, by their own kernels and by others beside them.
void measure_recorded(const Options& o, Ranks& ranks, int repeats, const peer::Call& call, Row& row) {
  const auto made_by = [&](std::uint32_t rank, bool records) {
    peer::Call mine = call;
    mine.send = ranks.input(rank);
    mine.receive = ranks.output(rank);
    if (records) mine.recording = &ranks.recording(rank);
    return mine;
  };
  const std::uint64_t results =
      row.collective == Collective::reduce_scatter ? row.bytes / row.ranks : row.bytes;
  const auto time = [&](const auto& one) {
    std::vector<double> seconds = ranks.time(repeats, o.samples, one);
    const std::uint64_t records = ranks.take_records();
    if (records != std::uint64_t{row.ranks} * static_cast<unsigned>(repeats * (o.samples + 1)))
      throw std::runtime_error("there are " + std::to_string(records) + " records");
    return seconds;
  };
  row.recorded_seconds = time([&](std::uint32_t rank, cudaStream_t stream) {
    return peer::reduce(ranks.endpoint(rank), made_by(rank, true), row.mode, stream);
  });
  row.beside_seconds = time([&](std::uint32_t rank, cudaStream_t stream) {
    const recorder::Recording& its = ranks.recording(rank);
    cudaError_t error =
        recorder::cuda::digest({ranks.input(rank), row.bytes}, &its.accumulator->input, stream);
    if (error == cudaSuccess)
      error = peer::reduce(ranks.endpoint(rank), made_by(rank, false), row.mode, stream);
    return error == cudaSuccess ? recorder::cuda::record(its, {ranks.output(rank), results}, stream) : error;
  });
}

Row measure_one(const Options& o, Ranks& ranks, Row row) {
  peer::Call call;
  call.collective = row.collective;
  call.arithmetic = {row.type, contract::Op::sum};
  call.arithmetic.ranks = row.ranks;
  call.count = row.bytes / contract::size_of(row.type) /
               (row.collective == Collective::reduce_scatter ? row.ranks : 1);
  row.moved = moved_bytes(row.collective, row.mode, row.ranks, row.bytes);
  const int repeats =
      static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / row.moved, 4, 200));
  row.seconds = ranks.time(repeats, o.samples, [&](std::uint32_t rank, cudaStream_t stream) {
    peer::Call mine = call;
    mine.send = ranks.input(rank);
    mine.receive = ranks.output(rank);
    return peer::reduce(ranks.endpoint(rank), mine, row.mode, stream);
  });
  if (peer::records(call, row.mode)) measure_recorded(o, ranks, repeats, call, row);
  if (row.bytes <= kLarge) {
    row.empty_seconds = ranks.time(repeats, o.samples, [&](std::uint32_t, cudaStream_t stream) {
      return launch_empty(row.blocks, 512, stream);
    });
  } else {
    row.copy_seconds = time_copies(row.moved, o.samples);
  }
  return row;
}

/// Whether it is worth measuring: no mode far from its sizes.
bool sensible(Mode mode, const peer::Call& call, const peer::Layout& layout, std::uint64_t bytes) {
  if (!peer::fits(call, mode, layout)) return false;
  if (mode == Mode::packets) return bytes <= (std::uint64_t{1} << 20);
  if (mode == Mode::shard_packets) return bytes >= 16384 && bytes <= (std::uint64_t{4} << 20);
  if (mode == Mode::one_shot) return bytes <= (std::uint64_t{4} << 20);
  return bytes >= 16384;
}

}  // namespace

void measure(const Options& o, const std::function<void(const Row&)>& done) {
  gpu_bench::require(peer::load_kernels());
  gpu_bench::require(recorder::cuda::load_kernels());
  gpu_bench::require(launch_empty(1, 32, nullptr));
  for (const std::uint32_t n : o.ranks) {
    for (const std::uint32_t blocks : o.block_counts) {
      if (n * blocks > 128) continue;  // they have to run at the same time
      Ranks ranks(n, blocks, o.end_bytes);
      for (const contract::DataType type : o.types) {
        for (std::uint64_t bytes = o.begin_bytes; bytes <= o.end_bytes; bytes *= o.factor) {
          for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
            for (const Mode mode : {Mode::packets, Mode::shard_packets, Mode::one_shot, Mode::two_shot}) {
              peer::Call call;
              call.collective = collective;
              call.arithmetic.type = type;
              call.count =
                  bytes / contract::size_of(type) / (collective == Collective::reduce_scatter ? n : 1);
              if (!sensible(mode, call, ranks.layout(), bytes)) continue;
              Row row;
              row.collective = collective;
              row.mode = mode;
              row.type = type;
              row.ranks = n;
              row.blocks = blocks;
              row.bytes = bytes;
              done(measure_one(o, ranks, row));
            }
          }
        }
      }
    }
  }
}

}  // namespace detccl::peer_bench
