// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nccl_api/channels.h"
#include "nccl_api/communicator.h"
#include "nccl_api/connect.h"
#include "nccl_api/fabric.h"
#include "nccl_api/gpu/gpu_border.h"
#include "nccl_api/gpu/shadow.h"
#include "nccl_api/hello.h"
#include "nccl_api/log.h"
#include "nccl_api/meeting.h"
#include "nccl_api/nvml.h"
#include "nccl_api/peer_choice.h"
#include "nccl_api/runtime.h"
#include "nccl_api/settings.h"
#include "nccl_api/settle.h"
#include "transport/peer/peer_memory.h"

namespace detccl::nccl_api::gpu {
namespace {

using engine::cuda::Reserve;
using engine::cuda::StreamEngine;
using engine::cuda::tolerate;
using transport::NcclExchange;

/// Memory for the products of PreMulSums, bytes: longer ones go in pieces.
constexpr std::size_t kProducts = std::size_t{8} << 20;

/// The most that ranks tell each other, bytes of each.
constexpr std::size_t kGreeting = std::max(sizeof(Hello), sizeof(transport::PeerCard));

/// Thread blocks of all lanes' kernels together, at most: every GPU has room for all of them at once. They
/// wait for each other's ranks, so that two which could only run one after the other would wait for ever
/// where ranks begin with different ones.
constexpr std::uint32_t kLaneBlocks = 64;

/// All ranks of the program's communicator, in its order, in one of our own. Its transfers cannot pair with
/// the program's, and it is blocking whatever the program's is. A rank that is not `able` leaves it to the
/// others, which then have one without it: an error on all of them.
ncclResult_t split(Communicator& communicator, bool able, std::unique_ptr<NcclExchange>& exchange) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  config.splitShare = 0;
  config.commName = "DetCCL";
  const Configuration& c = runtime().environment.configuration();
  const auto channels =
      channels_per_peer(c.schedule, c.contract, c.group, static_cast<std::uint32_t>(communicator.ranks()));
  if (channels) config.nChannelsPerNetPeer = static_cast<int>(*channels);
  if (c.lanes > 1) config.maxCTAs = static_cast<int>(kLaneBlocks / c.lanes);
  ncclComm_t child = nullptr;
  ncclResult_t result = real().CommSplit(communicator.handle(), able ? 0 : NCCL_SPLIT_NOCOLOR,
                                         communicator.rank(), &child, &config);
  // A nonblocking communicator may answer success although the child is still being made.
  if (result == ncclSuccess && !communicator.blocking()) result = ncclInProgress;
  result = settle(communicator, result);
  if (result != ncclSuccess || !able) return result;
  if (child == nullptr) return fail(ncclInternalError, "ncclCommSplit has made no communicator");
  exchange = std::make_unique<NcclExchange>(nccl_functions(), child);
  int ranks = 0;
  result = real().CommCount(child, &ranks);
  if (result != ncclSuccess || ranks == communicator.ranks()) return result;
  return fail(ncclUnhandledCudaError,
              fmt::format("{}: {} of its ranks cannot reduce with DetCCL; their own error says why",
                          communicator.name(), communicator.ranks() - ranks));
}

/// NCCL_ALGO can forbid every algorithm that NCCL has for all-gathers; what it says is agreed on.
const char* algorithms() {
  const char* text = std::getenv("NCCL_ALGO");
  return text == nullptr ? "" : text;
}

/// The current GPU's; empty if CUDA does not tell.
std::string bus_id() {
  std::array<char, 32> text{};
  int device = 0;
  if (!tolerate(cudaGetDevice(&device)) ||
      !tolerate(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device)))
    return "";
  return text.data();
}

ncclResult_t agree(Communicator& communicator, Reserve& reserve, NcclExchange& exchange, bool gathers,
                   bool samples, std::vector<Hello>& hellos) {
  hellos.resize(static_cast<std::size_t>(communicator.ranks()));
  Hello own = make_hello(runtime().environment.configuration(), 0, "");
  set_algorithms(own, algorithms());
  introduce(communicator, own);
  const std::string gpu = bus_id();
  set_gpu(own, gpu);
  own.domain = domain_number(find_fabric(gpu.c_str()), own.host);
  own.samples = samples ? 1 : 0;
  engine::cuda::all_gather_host(reserve, exchange, static_cast<std::uint32_t>(communicator.rank()),
                                static_cast<std::uint32_t>(communicator.ranks()), gathers, &own,
                                hellos.data(), sizeof own);
  if (const auto line = find_disagreement(hellos))
    return fail(ncclInvalidUsage, communicator.name() + ": " + *line);
  identify(communicator, hellos);
  return ncclSuccess;
}

std::unique_ptr<Reserve> make_reserve(std::uint32_t ranks) {
  if (ranks == 1) return std::make_unique<Reserve>(0, 0, 0, false);
  const Configuration& c = runtime().environment.configuration();
  const engine::Settings settings = engine_settings(c, false, {});
  return std::make_unique<Reserve>(settings.scratch_limit,
                                   std::max(ranks * kGreeting, engine::cuda::warm_up_bytes(settings, ranks)),
                                   kProducts, may_choose_peers(c, ranks), settings.lanes);
}

/// The communicator's ranks that are threads of this process, on the host.
std::shared_ptr<Meeting> meeting_of(std::span<const Hello> hellos, const Hello& own) {
  const auto here = std::count_if(hellos.begin(), hellos.end(), [&own](const Hello& hello) {
    return hello.host == own.host && hello.process == own.process;
  });
  return Meeting::get(communicator_number(hellos), static_cast<std::size_t>(here));
}

/// Of the current device.
std::uint32_t multiprocessors() {
  int device = 0, count = 0;
  engine::cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  engine::cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                      "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(count);
}

engine::cuda::PeerSettings peer_settings(const Configuration& c, std::span<const Hello> hellos,
                                         std::size_t rank, std::uint32_t blocks) {
  constexpr std::uint64_t kForEver = std::uint64_t{1} << 62;
  // NCCL would wait for ever for a rank that is late.
  const std::chrono::nanoseconds timeout = c.timeout.value_or(std::chrono::days(1));
  engine::cuda::PeerSettings settings;
  settings.blocks = blocks;
  settings.timeout = timeout.count() == 0 ? kForEver : static_cast<std::uint64_t>(timeout.count());
  settings.host = hellos[rank].host;
  // The others learn of it with what else there may be.
  std::optional<std::string> problem;
  if (!c.peer) problem = find_obstacle(nvml(), hellos, rank);
  if (!problem) problem = find_crowd(hellos, rank, blocks, multiprocessors());
  settings.problem = problem.value_or("");
  settings.meet = [meeting = meeting_of(hellos, hellos[rank])] { static_cast<void>(meeting->wait()); };
  return settings;
}

/// Whether reductions go over peer memory from now on: every rank comes to the same.
ncclResult_t use_peers(const Communicator& communicator, StreamEngine& engine,
                       std::span<const Hello> hellos) {
  const Configuration& c = runtime().environment.configuration();
  PeerChoice choice = choose_peers(c, hellos);
  if (choice.peer) {
    try {
      engine.use_peers(
          peer_settings(c, hellos, static_cast<std::size_t>(communicator.rank()), choice.blocks));
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

/// Collective.
ncclResult_t add_lanes(Communicator& communicator, StreamEngine& engine, std::uint32_t lanes) {
  while (engine.exchange() != nullptr && engine.lanes() < lanes) {
    std::unique_ptr<NcclExchange> exchange;
    const ncclResult_t result = split(communicator, true, exchange);
    if (result != ncclSuccess) return result;
    engine.add_lane(std::move(exchange));
  }
  if (engine.lanes() > 1 && communicator.rank() == 0)
    log_line(LogLevel::info, fmt::format("{}: {} lanes", communicator.name(), engine.lanes()));
  return ncclSuccess;
}

ncclResult_t make_shadow(Communicator& communicator) {
  int device = 0;
  ncclResult_t result = real().CommCuDevice(communicator.handle(), &device);
  if (result != ncclSuccess) return result;
  const engine::cuda::OnDevice guard(device);
  const engine::cuda::OutsideCapture outside;
  const bool gathers = *algorithms() == '\0';
  std::unique_ptr<NcclExchange> exchange;
  std::vector<Hello> hellos;
  std::unique_ptr<Reserve> reserve;
  std::unique_ptr<Sampler> sampler;
  const ncclResult_t reserved = gpu_guarded([&] {
    reserve = make_reserve(static_cast<std::uint32_t>(communicator.ranks()));
    const Configuration& c = runtime().environment.configuration();
    if (samples(c) && communicator.ranks() > 1) sampler = std::make_unique<Sampler>(c);
    return ncclSuccess;
  });
  if (communicator.ranks() == 1) {
    if (reserved != ncclSuccess) return reserved;
  } else {
    result = split(communicator, reserved == ncclSuccess, exchange);
    if (reserved != ncclSuccess) return reserved;
    const bool able = sampler != nullptr && sampler->able();
    if (result == ncclSuccess) result = agree(communicator, *reserve, *exchange, gathers, able, hellos);
    if (result != ncclSuccess) return result;
  }
  const engine::Settings settings = engine_settings(runtime().environment.configuration(), false, hellos);
  engine::Settings told = settings;
  told.on_choice = choice_log(communicator.name(), communicator.rank());
  auto engine = std::make_unique<StreamEngine>(told, static_cast<std::uint32_t>(communicator.rank()),
                                               static_cast<std::uint32_t>(communicator.ranks()), gathers,
                                               std::move(exchange), std::move(reserve));
  result = use_peers(communicator, *engine, hellos);
  if (result == ncclSuccess && engine->peers() == nullptr)
    result = add_lanes(communicator, *engine, settings.lanes);
  if (result != ncclSuccess) return result;
  engine->warm_up();
  auto stopwatch = std::make_unique<Stopwatch>(
      device, runtime().environment.configuration().profiler_phases, settings, communicator_number(hellos),
      static_cast<std::uint32_t>(communicator.rank()), static_cast<std::uint32_t>(communicator.ranks()),
      engine->peers() != nullptr);
  if (sampler != nullptr) sampler->begin(hellos, *engine, stopwatch->teller());
  communicator.set_gpu(std::make_shared<Shadow>(std::move(engine), std::move(stopwatch), std::move(sampler)));
  log_line(LogLevel::debug, fmt::format("{}: connected on GPU {}", communicator.name(), device));
  return ncclSuccess;
}

}  // namespace

const char* unavailable() {
  return nullptr;
}

ncclResult_t connect(Communicator& communicator) {
  return gpu_guarded([&] { return make_shadow(communicator); });
}

}  // namespace detccl::nccl_api::gpu
