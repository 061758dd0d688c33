// SPDX-License-Identifier: Apache-2.0
// Arrays in one piece of GPU memory with a copy of it in host memory, guard bytes around each.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "../device/random_values.h"
#include "device/cuda/fold.h"

namespace detccl::device::cuda {

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

/// Tests of this fixture are skipped where there is no GPU.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

/// Where an array is: bytes from the arena's start.
struct Array {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

class GpuArena {
 public:
  static constexpr std::size_t kBytes = std::size_t{64} << 20;
  static constexpr std::size_t kGuard = 64;

  GpuArena();
  ~GpuArena();
  GpuArena(const GpuArena&) = delete;
  GpuArena& operator=(const GpuArena&) = delete;

  void clear() { used_ = 0; }
  /// Undefined contents; starts `past` bytes past a multiple of 64.
  Array add(std::size_t bytes, std::size_t past);
  /// Random elements of `type`.
  Array add(host::Random& random, contract::DataType type, std::size_t count, std::size_t past);

  std::byte* host(const Array& a) { return host_.data() + a.offset; }
  std::byte* gpu(const Array& a) { return gpu_ + a.offset; }
  /// Everything added so far, to the GPU and back.
  void upload();
  void download();
  const std::vector<std::byte>& host_memory() const { return host_; }
  std::size_t used() const { return used_; }

 private:
  std::vector<std::byte> host_;
  std::byte* gpu_ = nullptr;
  std::size_t used_ = 0;
};

/// A fold of arrays of one arena.
struct FoldCase {
  Arithmetic arithmetic = {};
  std::vector<Array> operands = {};
  std::vector<plan::Form> forms = {};
  Array result = {};
  plan::Form result_form = plan::Form::final;
  std::uint64_t count = 0;
  LaunchLimits limits = {};
};

/// Runs it on the GPU and on the host: the whole arena must be the same afterwards, guards and operands too
/// (NaNs of unfinished results only as NaNs).
void check_against_host(GpuArena& arena, const FoldCase& c);

/// Every type, operation, order and accumulation; ranks and scalar to be filled in.
std::vector<Arithmetic> all_arithmetic();

}  // namespace detccl::device::cuda
