// SPDX-License-Identifier: Apache-2.0
// The memory and the streams that collectives work on: the first GPU's, or host memory where there is none.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace promises {

/// Errors are thrown as std::runtime_error. Transfers and everything enqueued run in their stream's order.
class Device {
 public:
  /// A captured graph.
  class Graph {
   public:
    virtual ~Graph() = default;
    virtual void launch(int stream) = 0;
  };

  virtual ~Device() = default;
  virtual bool is_gpu() const = 0;
  virtual int devices() const = 0;                    ///< GPUs of this process; 0 on the host
  virtual cudaStream_t stream(int number) const = 0;  ///< number 0 or 1; null on the host
  virtual void* allocate(std::size_t bytes) = 0;      ///< lives as long as the device
  virtual void upload(void* to, const void* from, std::size_t bytes, int stream) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, int stream) = 0;
  virtual void fill(void* to, int byte, std::size_t bytes, int stream) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;  ///< waits for both streams
  virtual void wait() = 0;                                                   ///< likewise
  /// What `to` gets from now on runs after what `from` has.
  virtual void order(int from, int to) = 0;
  /// What `enqueue` puts on stream 0 (and on stream 1, if it orders it after and before). GPU only.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) = 0;
  virtual std::size_t free_memory() = 0;  ///< of the GPU, bytes; 0 on the host
};

/// The GPU, or null where the machine (or this build) has none. In gpu.cc or no_gpu.cc.
std::unique_ptr<Device> open_gpu();
std::unique_ptr<Device> open_host();

}  // namespace promises
