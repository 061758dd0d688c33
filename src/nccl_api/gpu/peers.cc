// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/peers.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "nccl_api/log.h"
#include "nccl_api/meeting.h"
#include "nccl_api/nvml.h"
#include "nccl_api/peer_choice.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api::gpu {
namespace {

using engine::cuda::StreamEngine;

/// The ranks of a group that are threads of this process, on the host.
std::shared_ptr<Meeting> meeting_of(std::span<const Hello> group, const Hello& own, std::uint64_t number) {
  const auto here = std::count_if(group.begin(), group.end(), [&own](const Hello& hello) {
    return hello.host == own.host && hello.process == own.process;
  });
  return Meeting::get(number, static_cast<std::size_t>(here));
}

/// Of the current device.
std::uint32_t multiprocessors() {
  int device = 0, count = 0;
  engine::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  engine::cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                      "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(count);
}

}  // namespace

engine::cuda::PeerSettings peer_settings(std::span<const Hello> hellos, std::size_t rank,
                                         std::uint32_t blocks, std::size_t first, std::size_t ranks) {
  const Configuration& c = runtime().environment.configuration();
  constexpr std::uint64_t kForEver = std::uint64_t{1} << 62;
  // NCCL would wait for ever for a rank that is late.
  const std::chrono::nanoseconds timeout = c.timeout.value_or(std::chrono::days(1));
  engine::cuda::PeerSettings settings;
  settings.blocks = blocks;
  settings.timeout = timeout.count() == 0 ? kForEver : static_cast<std::uint64_t>(timeout.count());
  settings.host = hellos[rank].host;
  // The others learn of it with what else there may be.
  std::optional<std::string> problem;
  if (!c.peer && !c.rails) problem = find_obstacle(nvml(), hellos, rank);
  if (!problem) problem = find_crowd(hellos, rank, blocks, multiprocessors());
  settings.problem = problem.value_or("");
  const std::uint64_t number = communicator_number(hellos) + first;
  settings.meet = [meeting = meeting_of(hellos.subspan(first, ranks), hellos[rank], number)] {
    static_cast<void>(meeting->wait());
  };
  return settings;
}

ncclResult_t use_peers(const Communicator& communicator, StreamEngine& engine,
                       std::span<const Hello> hellos) {
  const Configuration& c = runtime().environment.configuration();
  PeerChoice choice = choose_peers(c, hellos);
  if (choice.peer) {
    try {
      engine.use_peers(peer_settings(hellos, static_cast<std::size_t>(communicator.rank()), choice.blocks, 0,
                                     hellos.size()));
    } catch (const std::invalid_argument& reason) {
      if (c.peer) {
        return fail(ncclInvalidUsage, fmt::format("{}: DETCCL_SCHEDULE=peer cannot be: {}",
                                                  communicator.name(), reason.what()));
      }
      choice.why = reason.what();
    }
  }
  if (communicator.rank() != 0) return ncclSuccess;
  if (engine.peers() != nullptr) {
    log_line(LogLevel::info,
             fmt::format("{}: reductions go over peer memory, in {} blocks, {} MB of it", communicator.name(),
                         choice.blocks, (engine.peers()->layout().bytes() + (1 << 20) - 1) >> 20));
  } else if (!choice.why.empty()) {
    log_line(LogLevel::info, fmt::format("{}: reductions go by plans, not over peer memory: {}",
                                         communicator.name(), choice.why));
  }
  return ncclSuccess;
}

}  // namespace detccl::nccl_api::gpu
