// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/connect.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "nccl_api/border.h"
#include "nccl_api/hello.h"
#include "nccl_api/leave.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"
#include "nccl_api/settings.h"
#include "nccl_api/settle.h"
#include "transport/loop/loop_fabric.h"
#include "transport/ucx/ucx_exchange.h"

namespace detccl::nccl_api {
namespace {

/// Every rank's `bytes` bytes, in rank order.
ncclResult_t all_gather(Communicator& communicator, const void* own, void* all, std::size_t bytes) {
  if (const ncclResult_t stopped = communicator.stopped(); stopped != ncclSuccess) return stopped;
  return settle(communicator, real().AllGather(own, all, bytes, ncclUint8, communicator.handle(), nullptr));
}

ncclResult_t gather_hellos(Communicator& communicator, const Hello& own, std::vector<Hello>& hellos) {
  hellos.resize(static_cast<std::size_t>(communicator.ranks()));
  return all_gather(communicator, &own, hellos.data(), sizeof own);
}

ncclResult_t gather_addresses(Communicator& communicator, const std::string& own,
                              const std::vector<Hello>& hellos, std::vector<std::string>& addresses) {
  std::size_t longest = 0;
  for (const Hello& hello : hellos)
    longest = std::max<std::size_t>(longest, hello.address_bytes);
  std::string padded = own;
  padded.resize(longest);
  std::string all(longest * hellos.size(), '\0');
  const ncclResult_t result = all_gather(communicator, padded.data(), all.data(), longest);
  if (result != ncclSuccess) return result;
  for (std::size_t rank = 0; rank < hellos.size(); ++rank)
    addresses.push_back(all.substr(rank * longest, hellos[rank].address_bytes));
  return ncclSuccess;
}

std::unique_ptr<transport::UcxWorker> make_worker(std::string& problem) {
  try {
    return std::make_unique<transport::UcxWorker>();
  } catch (const std::exception& e) {
    problem = e.what();
    return nullptr;
  }
}

/// The exchange among all ranks, or an error.
ncclResult_t find_peers(Communicator& communicator, std::unique_ptr<transport::Exchange>& exchange,
                        std::vector<Hello>& hellos) {
  const Configuration& configuration = runtime().environment.configuration();
  std::string problem;
  std::unique_ptr<transport::UcxWorker> worker = make_worker(problem);
  if (configuration.peer || configuration.rails)
    problem = fmt::format("DETCCL_SCHEDULE={} needs GPUs", schedule_name(configuration));
  const std::string address = worker != nullptr ? worker->address() : "";

  Hello own = make_hello(configuration, address.size(), problem);
  introduce(communicator, own);
  ncclResult_t result = gather_hellos(communicator, own, hellos);
  if (result != ncclSuccess) return result;
  if (const auto line = find_disagreement(hellos))
    return fail(ncclInvalidUsage, communicator.name() + ": " + *line);
  if (const auto line = find_problem(hellos))
    return fail(ncclSystemError, communicator.name() + ": " + *line);

  identify(communicator, hellos);
  std::vector<std::string> addresses;
  result = gather_addresses(communicator, address, hellos, addresses);
  if (result != ncclSuccess) return result;
  exchange = transport::UcxWorker::connect(std::move(worker), static_cast<std::uint32_t>(communicator.rank()),
                                           std::move(addresses));
  return ncclSuccess;
}

ncclResult_t connect_on_host(Communicator& communicator) {
  return guarded([&] {
    std::unique_ptr<transport::Exchange> exchange;
    std::vector<Hello> hellos;
    if (communicator.ranks() == 1) {
      exchange = transport::LoopFabric(1).exchange(0);
    } else {
      const ncclResult_t result = find_peers(communicator, exchange, hellos);
      if (result != ncclSuccess) return result;
    }
    leave_at_exit();
    const engine::Settings settings = engine_settings(runtime().environment.configuration(), true, hellos);
    engine::Settings told = settings;
    told.on_choice = choice_log(communicator.name(), communicator.rank());
    const auto ranks = static_cast<std::uint32_t>(communicator.ranks());
    auto shadow = std::make_unique<Shadow>(std::move(exchange), told);
    shadow->sampling = Sampling(SampleChoice(runtime().environment.configuration()), ranks);
    shadow->teller = std::make_unique<Teller>(settings, communicator_number(hellos),
                                              static_cast<std::uint32_t>(communicator.rank()), ranks, false);
    communicator.set_shadow(std::move(shadow));
    log_line(LogLevel::debug, fmt::format("{}: connected", communicator.name()));
    return ncclSuccess;
  });
}

}  // namespace

void introduce(Communicator& communicator, Hello& own) {
  own.job_rank = job_rank(static_cast<std::uint32_t>(communicator.rank()), 0).rank;
  own.creation_order = communicator.identity().creation_order;
  set_name(own, communicator.identity().name);
}

void identify(Communicator& communicator, std::span<const Hello> hellos) {
  trace::Communicator& identity = communicator.identity();
  if (identity.key != 0) return;  // recorded already
  identity.creation_order = hellos.front().creation_order;
  identity.name = name_of(hellos.front());
  identity.members.clear();
  for (const Hello& hello : hellos)
    identity.members.push_back(hello.job_rank);
}

ncclResult_t connect(Communicator& communicator) {
  return runtime().on_host ? connect_on_host(communicator) : gpu::connect(communicator);
}

ncclResult_t connect_entered(std::span<Communicator* const> communicators) {
  std::vector<ncclResult_t> results(communicators.size(), ncclSuccess);
  {
    std::vector<std::jthread> threads;  // joined at the end of the block
    for (std::size_t i = 1; i < communicators.size(); ++i)
      threads.emplace_back([&results, communicators, i] { results[i] = connect(*communicators[i]); });
    if (!communicators.empty()) results[0] = connect(*communicators[0]);
  }
  const auto bad =
      std::find_if(results.begin(), results.end(), [](ncclResult_t r) { return r != ncclSuccess; });
  return bad == results.end() ? ncclSuccess : *bad;
}

ncclResult_t connect_all(std::span<const std::shared_ptr<Communicator>> communicators) {
  std::vector<Communicator*> entered;
  for (const auto& communicator : communicators) {
    communicator->enter();
    entered.push_back(communicator.get());
  }
  const ncclResult_t result = connect_entered(entered);
  for (Communicator* communicator : entered)
    communicator->leave();
  return result;
}

}  // namespace detccl::nccl_api
