// SPDX-License-Identifier: Apache-2.0
// Detailed records: tables of chunks and durations, taken by kernels, as they arrive in the trace file.
#include "recorder/cuda/detailed.h"

#include <algorithm>

#include "gpu_records.h"

namespace detccl::recorder::cuda {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kManyBytes = (std::size_t{4} << 20) + 64;

class Detailed : public GpuRecords {
 protected:
  explicit Detailed(std::size_t chunk_bytes) : GpuRecords(chunk_bytes, kManyBytes) {}

  /// Copies the input `past` bytes from its beginning, `in` bytes, to as much of the output, and changes its
  /// first byte; the record takes `out` bytes of the output. Either may be 0.
  void operate(std::size_t in, std::size_t out, std::size_t past = 0, bool captured = false,
               std::chrono::milliseconds nap = {}) {
    Site site;
    site.input_bytes = in;
    site.output_bytes = out;
    site.record.count = in;
    site.captured = captured;
    if (in == 0) site.record.flags |= trace::kNoInput;
    if (out == 0) site.record.flags |= trace::kNoOutput;
    const auto place = sites_.add(site);
    ASSERT_TRUE(place);
    const std::size_t wanted = recorder_.options().chunk_bytes;
    Details details;
    ASSERT_CUDA(memory_.details(place->accumulator, chunks_of(in, wanted), chunks_of(out, wanted), details));
    ASSERT_CUDA(begin(details, {input_ + past, in}, stream_));
    nap_ = nap;
    if (nap.count() != 0) {
      ASSERT_CUDA(cudaLaunchHostFunc(
          stream_,
          [](void* its) { std::this_thread::sleep_for(*static_cast<const std::chrono::milliseconds*>(its)); },
          &nap_));
    }
    ASSERT_CUDA(cudaMemcpyAsync(output_ + past, input_ + past, in, cudaMemcpyDeviceToDevice, stream_));
    ASSERT_CUDA(cudaMemsetAsync(output_ + past, 0xff, 1, stream_));
    sites_.commit(place->site);
    ASSERT_CUDA(end({memory_.ring(), place->site, counter_, details}, {output_ + past, out}, stream_));
  }

  static std::string digest_of(const Bytes& data) {
    return fingerprint::to_string(fingerprint::digest(data.data(), data.size()));
  }
  void expect_table(const trace::ChunkTable& table, const Bytes& data, bool is_output) const {
    const Chunks chunks = chunks_of(data.size(), recorder_.options().chunk_bytes);
    std::vector<fingerprint::Sums> sums(chunks.count);
    fingerprint::chunks(data.data(), data.size(), chunks.bytes, sums.data());
    const trace::ChunkTable expected = chunk_table(data.size(), chunks.bytes, is_output, sums);
    EXPECT_EQ(table.bytes, expected.bytes);
    EXPECT_EQ(table.chunk_bytes, expected.chunk_bytes);
    EXPECT_EQ(table.is_output, is_output);
    EXPECT_TRUE(table.digests == expected.digests) << data.size() << " bytes in chunks of " << chunks.bytes;
  }
  /// Digests and tables of an operation with this input, and this much output.
  void expect_record(const Record& got, const Bytes& input, std::size_t out) const {
    Bytes output = input;
    output.resize(out);
    if (out != 0) output[0] = std::byte{0xff};
    const auto tables = reader_->chunk_tables(got.sequence);
    const bool with_tables = recorder_.options().chunk_bytes != 0;
    ASSERT_EQ(tables.size(), with_tables ? (input.empty() ? 0u : 1u) + (out == 0 ? 0u : 1u) : 0u);
    if (!input.empty()) {
      EXPECT_EQ(trace::to_hex(got.input), digest_of(input));
    }
    if (out != 0) {
      EXPECT_EQ(trace::to_hex(got.output), digest_of(output));
    }
    if (with_tables && !input.empty()) expect_table(tables.front(), input, false);
    if (with_tables && out != 0) expect_table(tables.back(), output, true);
    EXPECT_NE(got.duration_ns, trace::kNoDuration);
  }

  std::chrono::milliseconds nap_{};
};

class DetailedInChunks : public Detailed {
 protected:
  DetailedInChunks() : Detailed(1024) {}
};
/// More chunks than a launch has, or than a table.
class DetailedInManyChunks : public Detailed {
 protected:
  DetailedInManyChunks() : Detailed(16) {}
};
class DetailedWithoutChunks : public Detailed {
 protected:
  DetailedWithoutChunks() : Detailed(0) {}
};

TEST_F(DetailedInChunks, EagerTablesAreTheHosts) {
  make_ring(1024);
  start();
  struct Case {
    std::size_t in, out, past;
  };
  std::vector<Case> cases;
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{1024}, std::size_t{1040}, std::size_t{100003}}) {
    for (const std::size_t past : {std::size_t{0}, std::size_t{5}}) {
      cases.push_back({bytes, bytes, past});
      cases.push_back({bytes, (bytes + 3) / 4, past});
      cases.push_back({bytes, 0, past});
    }
  }
  std::vector<Bytes> inputs;
  for (const auto& [in, out, past] : cases) {
    inputs.push_back(new_input(in));
    ASSERT_CUDA(cudaMemcpy(input_ + past, inputs.back().data(), in, cudaMemcpyHostToDevice));
    operate(in, out, past);
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
  }
  // A receive's output is what lay there, but for its first byte.
  ASSERT_CUDA(cudaMemset(output_, 0, 5000));
  operate(0, 5000);
  const std::vector<Record> all = close();
  ASSERT_EQ(recorder_.problem(), "");
  ASSERT_EQ(all.size(), cases.size() + 1);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].communicator_sequence, i);
    expect_record(all[i], inputs[i], cases[i].out);
  }
  expect_record(all.back(), {}, 5000);
}

TEST_F(DetailedInManyChunks, TablesOfSeveralLaunches) {
  make_ring(std::uint64_t{1} << 20);
  start();
  std::vector<Bytes> inputs;
  for (const std::size_t bytes : {(std::size_t{1} << 20) + 50, (std::size_t{4} << 20) + 5}) {
    inputs.push_back(new_input(bytes));
    ASSERT_CUDA(cudaMemcpy(input_, inputs.back().data(), bytes, cudaMemcpyHostToDevice));
    operate(bytes, bytes);
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
  }
  const std::vector<Record> all = close();
  ASSERT_EQ(all.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    expect_record(all[i], inputs[i], inputs[i].size());
}

TEST_F(DetailedInChunks, ReplaysLeaveTheirOwnTables) {
  constexpr std::uint64_t kReplays = 2000, kBytesEach = 4097;
  make_ring(std::uint64_t{1} << 15);  // eight slots for each replay: room for all
  start();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  operate(kBytesEach, kBytesEach, 0, true);
  operate(1000, 0, 0, true);
  ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
  ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  std::uint64_t* changing = nullptr;
  ASSERT_CUDA(cudaMallocHost(reinterpret_cast<void**>(&changing), kReplays * sizeof(std::uint64_t)));
  for (std::uint64_t i = 0; i < kReplays; ++i) {
    changing[i] = i;
    ASSERT_CUDA(cudaMemcpyAsync(input_ + 528, changing + i, 8, cudaMemcpyHostToDevice, stream_));
    ASSERT_CUDA(cudaGraphLaunch(executable, stream_));
  }
  const std::vector<Record> all = close();
  ASSERT_EQ(recorder_.problem(), "");
  ASSERT_EQ(all.size(), 2 * kReplays);
  Bytes data(kBytesEach);
  // Reading a table goes through the file from its beginning: some of them.
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    const std::uint64_t value = i / 2;
    std::memcpy(data.data() + 528, &value, 8);
    const Bytes input(data.begin(), data.begin() + static_cast<long>(all[i].count));
    ASSERT_EQ(all[i].communicator_sequence, i);
    ASSERT_EQ(trace::to_hex(all[i].input), digest_of(input)) << i;
    if (i % 97 == 0) expect_record(all[i], input, i % 2 == 0 ? input.size() : 0);
  }
  EXPECT_EQ(cudaFreeHost(changing), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(DetailedInChunks, OverflowIsCounted) {
  make_ring(64);
  for (int i = 0; i < 20; ++i)
    operate(10240, 10240);  // 11 slots: there is room for five
  ASSERT_CUDA(cudaStreamSynchronize(stream_));
  start();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  operate(10240, 10240);
  const std::vector<Record> all = close();
  ASSERT_EQ(all.size(), 6u);
  for (std::uint64_t i = 0; i < 5; ++i)
    EXPECT_EQ(all[i].communicator_sequence, i);
  EXPECT_EQ(all[5].communicator_sequence, 20u);
  EXPECT_EQ(all[5].sequence, 20u);
  // What the dropped ones had gathered is gone.
  expect_record(all[5], Bytes(10240), 10240);
  EXPECT_NE(recorder_.problem().find("15 records dropped on the GPU"), std::string::npos)
      << recorder_.problem();
}

TEST_F(DetailedWithoutChunks, AnotherCallsErrorIsNotTheirs) {
  make_ring(64);
  start();
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  operate(4097, 0);
  operate(0, 4097);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(close().size(), 2u);
}

TEST_F(DetailedWithoutChunks, DurationsAreTheOperationsOwn) {
  constexpr auto kNap = std::chrono::milliseconds(30);
  constexpr std::uint32_t kMillisecond = 1000000;
  make_ring(64);
  start();
  struct Case {
    std::size_t in, out;
    bool sleeps;
  };
  const std::vector<Case> cases = {
      {kBytes, kBytes, false}, {kBytes, kBytes, true}, {kBytes, 0, true}, {0, kBytes, true}};
  for (const auto& [in, out, sleeps] : cases) {
    operate(in, out, 0, false, sleeps ? kNap : std::chrono::milliseconds(0));
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
  }
  const std::vector<Record> all = close();
  ASSERT_EQ(all.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].sleeps) {
      EXPECT_GE(all[i].duration_ns, 29 * kMillisecond) << i;
    }
    EXPECT_LT(all[i].duration_ns, 4000U * kMillisecond) << i;
  }
  expect_record(all[0], Bytes(kBytes), kBytes);
}

}  // namespace
}  // namespace detccl::recorder::cuda
