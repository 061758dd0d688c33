// SPDX-License-Identifier: Apache-2.0
#include "gpu_arena.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "contract/arithmetic.h"

namespace detccl::device::cuda {
namespace {

using contract::DataType;
using plan::Form;

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

std::vector<Operand> operands_of(const FoldCase& c, std::byte* base) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < c.operands.size(); ++i)
    operands.push_back({base + c.operands[i].offset, c.forms[i]});
  return operands;
}

/// Gives the NaNs of `count` fp32 or fp64 values one pattern.
template <class T>
void unite_nans(std::byte* values, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, values + i * sizeof(T), sizeof(T));
    const auto bits = contract::canonical_bits(x);
    std::memcpy(values + i * sizeof(T), &bits, sizeof(T));
  }
}

void unite_nans(const FoldCase& c, std::byte* base) {
  if (c.result_form != Form::partial) return;
  const DataType type = contract::accumulation_type(c.arithmetic.type, c.arithmetic.accumulate);
  if (type == DataType::float32) unite_nans<float>(base + c.result.offset, c.count);
  if (type == DataType::float64) unite_nans<double>(base + c.result.offset, c.count);
}

std::string describe(const FoldCase& c) {
  const Arithmetic& a = c.arithmetic;
  std::string text = std::string(name(a.type)) + " " + std::string(name(a.op)) + " " +
                     to_string(contract::Contract{a.order, a.accumulate, 0}) + ", " +
                     std::to_string(c.operands.size()) + " operands, count " + std::to_string(c.count) +
                     ", result form " + std::to_string(static_cast<int>(c.result_form)) + ", blocks " +
                     std::to_string(c.limits.max_blocks) + ", forms and addresses mod 64:";
  for (std::size_t i = 0; i < c.operands.size() && i < 20; ++i) {
    text +=
        " " + std::to_string(static_cast<int>(c.forms[i])) + "@" + std::to_string(c.operands[i].offset % 64);
  }
  return text + " -> " + std::to_string(c.result.offset % 64);
}

}  // namespace

void GpuTest::SetUp() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no GPU here: " << (error == cudaSuccess ? "none found" : cudaGetErrorString(error));
  }
}

void GpuTest::TearDown() {
  if (IsSkipped()) return;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

GpuArena::GpuArena() : host_(kBytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, kBytes));
  gpu_ = static_cast<std::byte*>(memory);
}

GpuArena::~GpuArena() {
  cudaFree(gpu_);
}

Array GpuArena::add(std::size_t bytes, std::size_t past) {
  const std::size_t start = (used_ + kGuard + 63) / 64 * 64 + past;
  if (start + bytes + kGuard > kBytes) throw std::length_error("the arena is full");
  std::memset(host_.data() + used_, 0xa5, start + bytes + kGuard - used_);
  used_ = start + bytes + kGuard;
  return {start, bytes};
}

Array GpuArena::add(host::Random& random, DataType type, std::size_t count, std::size_t past) {
  const std::size_t size = contract::size_of(type);
  const Array array = add(count * size, past);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = host::random_element(random, type);
    std::memcpy(host(array) + i * size, &bits, size);
  }
  return array;
}

void GpuArena::upload() {
  require(cudaMemcpy(gpu_, host_.data(), used_, cudaMemcpyHostToDevice));
}

void GpuArena::download() {
  require(cudaMemcpy(host_.data(), gpu_, used_, cudaMemcpyDeviceToHost));
}

void check_against_host(GpuArena& arena, const FoldCase& c) {
  const Array all{};
  arena.upload();
  std::vector<std::byte> expected(arena.host_memory().begin(),
                                  arena.host_memory().begin() + static_cast<std::ptrdiff_t>(arena.used()));
  host::fold(c.arithmetic, operands_of(c, expected.data()), expected.data() + c.result.offset, c.result_form,
             c.count);
  ASSERT_CUDA(fold(c.arithmetic, operands_of(c, arena.gpu(all)), arena.gpu(c.result), c.result_form, c.count,
                   c.limits, nullptr));
  arena.download();
  unite_nans(c, expected.data());
  unite_nans(c, arena.host(all));
  if (std::memcmp(expected.data(), arena.host(all), arena.used()) == 0) return;
  std::size_t at = 0;
  while (expected[at] == arena.host(all)[at])
    ++at;
  FAIL() << describe(c) << ": byte " << static_cast<std::ptrdiff_t>(at - c.result.offset)
         << " of the result differs";
}

std::vector<Arithmetic> all_arithmetic() {
  using contract::Accumulate;
  using contract::Order;
  std::vector<Arithmetic> all;
  for (int type = 0; type < contract::kDataTypes; ++type) {
    for (int op = 0; op < contract::kOps; ++op) {
      for (const Order order : {Order::tree, Order::linear}) {
        for (const Accumulate accumulate : {Accumulate::wide, Accumulate::native}) {
          all.push_back(
              {static_cast<DataType>(type), static_cast<contract::Op>(op), order, accumulate, 1, 0});
        }
      }
    }
  }
  return all;
}

}  // namespace detccl::device::cuda
