// SPDX-License-Identifier: Apache-2.0
#include "gpu_test.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>

namespace detccl::fingerprint::cuda {
namespace {

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

}  // namespace

void GpuTest::SetUp() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no GPU here: " << (error == cudaSuccess ? "none found" : cudaGetErrorString(error));
  }
}

GpuMemory::GpuMemory(std::size_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes));
  data_ = static_cast<std::byte*>(memory);
}

GpuMemory::~GpuMemory() {
  cudaFree(data_);
}

void GpuMemory::upload(std::size_t at, const void* from, std::size_t bytes) {
  require(cudaMemcpy(data_ + at, from, bytes, cudaMemcpyHostToDevice));
}

void GpuMemory::download(std::size_t at, void* to, std::size_t bytes) const {
  require(cudaMemcpy(to, data_ + at, bytes, cudaMemcpyDeviceToHost));
}

void GpuMemory::clear(std::size_t at, std::size_t bytes) {
  require(cudaMemset(data_ + at, 0, bytes));
}

std::uint64_t new_seed() {
  const char* const chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  return seed;
}

std::vector<std::byte> random_bytes(Random& random, std::size_t n) {
  std::vector<std::byte> bytes(n + 8);
  for (std::size_t i = 0; i < n; i += 8) {
    const std::uint64_t x = random();
    std::memcpy(bytes.data() + i, &x, 8);
  }
  bytes.resize(n);
  return bytes;
}

}  // namespace detccl::fingerprint::cuda
