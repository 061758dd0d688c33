// SPDX-License-Identifier: Apache-2.0
#include "recorder/cuda/device_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/cuda/last_error.h"

namespace detccl::recorder::cuda {
namespace {

using device::cuda::tolerate;

constexpr std::size_t kAccumulatorsPerPage = 4096, kCountersPerPage = 512;
constexpr std::size_t kDetailsPage = std::size_t{1} << 20;

}  // namespace

/// Memory of our own that the device is allowed to write, so that it stays readable when the context is gone;
/// shared, so that a fork does not move the parent's pages away from the device. Where the system does not
/// allow that, the runtime's.
cudaError_t DeviceRing::map_host_memory(std::size_t bytes, void*& host, void*& device) {
  host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (host == MAP_FAILED) return cudaErrorMemoryAllocation;
  cudaError_t error = cudaHostRegister(host, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
  if (!tolerate(error)) {
    munmap(host, bytes);
    error = cudaHostAlloc(&host, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (error == cudaSuccess) std::memset(host, 0, bytes);
  }
  return error == cudaSuccess ? cudaHostGetDevicePointer(&device, host, 0) : error;
}

cudaError_t DeviceRing::allocate(void*& memory, std::size_t bytes) {
  // The thread may be capturing a stream, which forbids what follows, but for this mode.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  tolerate(cudaThreadExchangeStreamCaptureMode(&mode));
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) error = cudaMemsetAsync(memory, 0, bytes, stream);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (stream != nullptr) tolerate(cudaStreamDestroy(stream));
  tolerate(cudaThreadExchangeStreamCaptureMode(&mode));
  return error;
}

cudaError_t DeviceRing::init(std::uint64_t slots) {
  void *host = nullptr, *device = nullptr, *state = nullptr;
  cudaError_t error = map_host_memory(sizeof(RingControl) + slots * sizeof(Slot), host, device);
  if (error == cudaSuccess) error = allocate(state, sizeof(RingState));
  if (error != cudaSuccess) return error;
  host_control_ = static_cast<RingControl*>(host);
  host_slots_ = reinterpret_cast<Slot*>(host_control_ + 1);
  ring_.control = static_cast<RingControl*>(device);
  ring_.slots = reinterpret_cast<Slot*>(ring_.control + 1);
  ring_.state = static_cast<RingState*>(state);
  ring_.capacity = slots;
  Accumulator* first = nullptr;
  return accumulator(0, first);
}

cudaError_t DeviceRing::accumulator(std::uint32_t number, Accumulator*& at) {
  while (accumulators_.size() <= number / kAccumulatorsPerPage) {
    void* page = nullptr;
    const cudaError_t error = allocate(page, kAccumulatorsPerPage * sizeof(Accumulator));
    if (error != cudaSuccess) return error;
    accumulators_.push_back(static_cast<Accumulator*>(page));
  }
  at = accumulators_[number / kAccumulatorsPerPage] + number % kAccumulatorsPerPage;
  return cudaSuccess;
}

cudaError_t DeviceRing::counter(std::uint64_t*& at) {
  if (counters_given_ == counters_.size() * kCountersPerPage) {
    void* page = nullptr;
    const cudaError_t error = allocate(page, kCountersPerPage * sizeof(std::uint64_t));
    if (error != cudaSuccess) return error;
    counters_.push_back(static_cast<std::uint64_t*>(page));
  }
  at = counters_.back() + counters_given_++ % kCountersPerPage;
  return cudaSuccess;
}

cudaError_t DeviceRing::details(std::uint32_t number, const Chunks& input, const Chunks& output,
                                Details& at) {
  if (details_.size() <= number) details_.resize(number + std::size_t{1});
  Gathered& its = details_[number];
  const std::size_t bytes = sizeof(Times) + (input.count + output.count) * sizeof(fingerprint::Sums);
  if (its.bytes < bytes) {
    const std::size_t rounded = std::bit_ceil(bytes);
    if (rest_.bytes < rounded) {
      void* page = nullptr;
      const cudaError_t error = allocate(page, std::max(rounded, kDetailsPage));
      if (error != cudaSuccess) return error;
      rest_ = {static_cast<std::byte*>(page), std::max(rounded, kDetailsPage)};
    }
    its = {rest_.memory, rounded};
    rest_ = {rest_.memory + rounded, rest_.bytes - rounded};
  }
  at.times = reinterpret_cast<Times*>(its.memory);
  at.input = reinterpret_cast<fingerprint::Sums*>(at.times + 1);
  at.output = at.input + input.count;
  at.input_chunks = input;
  at.output_chunks = output;
  return cudaSuccess;
}

}  // namespace detccl::recorder::cuda
