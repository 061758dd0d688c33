// SPDX-License-Identifier: Apache-2.0
// Where the buffers of collectives live: the rank's GPU, or host memory where there is none.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <memory>

namespace trainer {

/// Errors are thrown as std::runtime_error.
class Device {
 public:
  virtual ~Device() = default;
  virtual const char* name() const = 0;
  virtual cudaStream_t stream() const = 0;  ///< null on the host
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* memory) = 0;
  /// To and from host memory, in stream order; download returns when the data are there.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// Whether everything enqueued on the stream has run.
  virtual bool idle() = 0;
};

enum class Where { automatic, gpu, host };

/// The rank's device. `local_rank`: its number on this machine, which picks the GPU. Throws if a GPU is asked
/// for and there is none.
std::unique_ptr<Device> open_device(Where where, int local_rank);

/// A GPU, or null where the machine (or this build) has none. In gpu.cc or no_gpu.cc.
std::unique_ptr<Device> open_gpu(int local_rank);

/// Memory of a device, which must outlive it.
class Buffer {
 public:
  Buffer(Device& device, std::size_t bytes) : device_(device), memory_(device.allocate(bytes)) {}
  ~Buffer() { device_.free(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(memory_); }
  void upload(const void* from, std::size_t bytes) { device_.upload(memory_, from, bytes); }
  void download(void* to, std::size_t bytes) const { device_.download(to, memory_, bytes); }

 private:
  Device& device_;
  void* memory_;
};

}  // namespace trainer
