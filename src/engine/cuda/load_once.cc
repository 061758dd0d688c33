// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/load_once.h"

#include <mutex>
#include <set>

#include "device/cuda/fold.h"
#include "engine/cuda/cuda_error.h"

namespace detccl::engine::cuda {
namespace {

std::mutex mutex;
std::set<int> loaded;

}  // namespace

void load_once(int device) {
  const std::lock_guard lock(mutex);
  if (loaded.contains(device)) return;
  check(device::cuda::load_kernels(), "loading the fold kernels");
  loaded.insert(device);
}

}  // namespace detccl::engine::cuda
