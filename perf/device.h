// SPDX-License-Identifier: Apache-2.0
// Where buffers lie and time is taken: host memory or a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace detccl::perf {

/// Of one call: in a batch of calls, and how long the host took to enqueue it.
struct CallTime {
  double seconds = 0.0, host_seconds = 0.0;
};

/// Functions throw std::runtime_error. One thread.
class Device {
 public:
  virtual ~Device() = default;

  /// Freed with the device.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;
  /// All bits set: no result looks like that.
  virtual void poison(std::byte* data, std::size_t bytes) = 0;
  virtual void* stream() = 0;  ///< a cudaStream_t; null on the host
  virtual void wait() = 0;     ///< for all that was enqueued on the stream

  /// Times `calls` calls back to back.
  virtual CallTime time(std::uint64_t calls, const std::function<void()>& call) = 0;

  /// A function that launches a CUDA graph of `calls` calls.
  virtual std::function<void()> capture(std::uint64_t calls, const std::function<void()>& call) = 0;
};

std::unique_ptr<Device> host_device();

/// Which GPU a rank has.
struct Gpu {
  int index = 0, count = 0;
  std::string name, driver;  ///< "NVIDIA H200", "580.65.06"
};

/// Takes GPU `local_rank` modulo their number. Throws UsageError where there is none, or this build has no
/// CUDA.
std::unique_ptr<Device> gpu_device(int local_rank, Gpu& gpu);

}  // namespace detccl::perf
