// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA runtime that must succeed, and those that need not.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "device/cuda/last_error.h"

namespace detccl::engine::cuda {

using device::cuda::tolerate;

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* what)
      : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code)) {}
};

inline void check(cudaError_t code, const char* what) {
  if (!tolerate(code)) throw CudaError(code, what);
}

/// Makes a device the thread's current one, and afterwards the one before.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    changed_ = before_ != device;
    if (changed_) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~OnDevice() {
    if (changed_) tolerate(cudaSetDevice(before_));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// The thread may allocate and wait although a stream is being captured: not on that stream.
class OutsideCapture {
 public:
  OutsideCapture() { tolerate(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~OutsideCapture() { tolerate(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace detccl::engine::cuda
