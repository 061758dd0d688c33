// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <cstdlib>
#include <filesystem>

namespace detccl::perf {
namespace {

constexpr int kManyRanksPerGpu = 23000;  ///< NCCL 2.30

void set(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 0);
}

bool mps_is_running() {
  const char* folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  std::error_code ignored;
  return std::filesystem::exists(
      std::filesystem::path(folder != nullptr ? folder : "/tmp/nvidia-mps") / "control", ignored);
}

}  // namespace

Sharing set_up_bench(Bench wanted, const Library& native, const Job::Place& place, int rank, int gpus) {
  const bool shared = place.local_ranks > gpus;
  Sharing sharing{wanted, ""};
  if (wanted == Bench::automatic) {
    const bool p2p = native.version_code() >= kManyRanksPerGpu;
    sharing.bench = !shared ? Bench::none : p2p ? Bench::p2p : Bench::socket;
  }
  if (sharing.bench == Bench::p2p) {
    if (native.version_code() < kManyRanksPerGpu)
      throw UsageError("--bench p2p needs NCCL 2.30 or newer, and " + native.path + " is " +
                       native.version() + ": give another with --nccl, or take --bench socket");
    set("NCCL_MULTI_RANK_GPU_ENABLE", "1");
    set("NCCL_MAX_CTAS", "8");
  }
  if (sharing.bench == Bench::socket) {
    set("NCCL_HOSTID", "h" + std::to_string(rank));
    set("NCCL_SOCKET_IFNAME", "lo");
    set("NCCL_IB_DISABLE", "1");
    set("NCCL_MNNVL_ENABLE", "0");
  }
  if (shared && !mps_is_running())
    sharing.warning =
        "ranks share a GPU and CUDA MPS is not running (CUDA_MPS_PIPE_DIRECTORY): they take turns, and times "
        "say "
        "little";
  return sharing;
}

}  // namespace detccl::perf
