// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/load_once.h"

#include <map>
#include <mutex>
#include <set>

#include "device/cuda/fold.h"
#include "device/cuda/peer/peer.h"
#include "engine/cuda/cuda_error.h"

namespace detccl::engine::cuda {
namespace {

std::mutex mutex;
std::set<int> loaded;
std::map<int, cudaError_t> peers_loaded;

}  // namespace

void load_once(int device) {
  const std::lock_guard lock(mutex);
  if (loaded.contains(device)) return;
  check(device::cuda::load_kernels(), "loading the fold kernels");
  loaded.insert(device);
}

cudaError_t load_peers_once(int device) {
  const std::lock_guard lock(mutex);
  const auto [known, is_new] = peers_loaded.emplace(device, cudaSuccess);
  if (is_new) tolerate(known->second = device::cuda::peer::load_kernels());
  return known->second;
}

}  // namespace detccl::engine::cuda
