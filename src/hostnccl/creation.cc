// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/creation.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hostnccl/bootstrap.h"
#include "hostnccl/border.h"
#include "hostnccl/process.h"

namespace detccl::hostnccl {
namespace {

using Works = std::vector<Creation>;

std::vector<Works> by_carrier(std::vector<Creation> creations) {
  std::vector<Works> lists;
  for (Creation& creation : creations) {
    auto list = std::find_if(lists.begin(), lists.end(),
                             [&](const Works& works) { return works.front().carrier == creation.carrier; });
    if (list == lists.end()) list = lists.insert(list, Works{});
    list->push_back(std::move(creation));
  }
  return lists;
}

/// One after the other; after a failure those that are left are cancelled.
std::exception_ptr work_off(const Works& works) noexcept {
  std::exception_ptr failure;
  for (const Creation& creation : works) {
    if (failure != nullptr) {
      creation.cancel();
      continue;
    }
    try {
      creation.work();
    } catch (...) {
      failure = std::current_exception();
      creation.cancel();
    }
  }
  return failure;
}

/// In the background a failure is the carrier's asynchronous error, and the carrier stays.
void work_off_in_background(Communicator& carrier, const Works& works) noexcept {
  const ncclResult_t result = guarded([&] {
    for (const Creation& creation : works)
      creation.work();
    return ncclSuccess;
  });
  if (result != ncclSuccess) carrier.fail(result, last_error());
  carrier.set_ready();
}

void start_in_background(Works works) {
  Communicator& carrier = *works.front().carrier;
  if (carrier.background.joinable()) carrier.background.join();
  carrier.set_in_progress();
  for (Creation& creation : works)
    creation.carrier.reset();  // its owner joins the thread before it goes
  carrier.background =
      std::thread([&carrier, list = std::move(works)] { work_off_in_background(carrier, list); });
}

}  // namespace

void publish(ncclComm_t* comm, ncclComm_t handle) noexcept {
  std::atomic_ref(*comm).store(handle, std::memory_order_release);
}

bool carry_out_creations(std::vector<Creation> creations) {
  std::vector<Works> foreground;
  bool background = false;
  for (Works& works : by_carrier(std::move(creations))) {
    if (works.front().background) {
      start_in_background(std::move(works));
      background = true;
    } else {
      foreground.push_back(std::move(works));
    }
  }
  std::vector<std::exception_ptr> failures(foreground.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < foreground.size(); ++i) {
    threads.emplace_back([&, i] { failures[i] = work_off(foreground[i]); });
  }
  if (!foreground.empty()) failures[0] = work_off(foreground[0]);
  for (std::thread& thread : threads)
    thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  return background;
}

void init_rank(Group& group, ncclComm_t* comm, int size, const std::vector<ncclUniqueId>& ids, int rank,
               int device, const ncclConfig_t* config) {
  if (comm == nullptr) throw Error(ncclInvalidArgument, "the pointer to the new communicator is NULL");
  if (size < 1 || rank < 0 || rank >= size) {
    throw Error(ncclInvalidArgument, fmt::format("rank {} of {} ranks: out of range", rank, size));
  }
  Communicator::Identity identity;
  identity.rank = static_cast<std::uint32_t>(rank);
  identity.size = static_cast<std::uint32_t>(size);
  identity.device = device;
  identity.config = read_config(config, Config{});
  identity.settings = read_settings();
  const Ring ring = ring_of(identity.settings, identity.size);
  const RootAddress root = decode(ids.front());
  std::vector<RootAddress> unused;
  for (std::size_t i = 1; rank == 0 && i < ids.size(); ++i)
    unused.push_back(decode(ids[i]));

  const bool background = !identity.config.blocking;
  auto communicator = std::make_shared<Communicator>(std::move(identity));
  const ncclComm_t handle = process().registry.add(communicator);
  publish(comm, handle);  // known from here on, so that another thread can abort it
  Creation creation;
  creation.carrier = communicator;
  creation.background = background;
  creation.work = [c = communicator.get(), root, ring, unused] {
    bootstrap(*c, root, ring, c->patience());
    for (const RootAddress& other : unused)
      dismiss(other);
  };
  creation.cancel = [comm, handle] {
    process().registry.remove(handle);
    publish(comm, nullptr);
  };
  group.add(std::move(creation));
}

void init_all(ncclComm_t* comms, int size, const int* devices) {
  if (comms == nullptr) throw Error(ncclInvalidArgument, "the pointer to the new communicators is NULL");
  if (size < 1) throw Error(ncclInvalidArgument, fmt::format("{} devices: at least one is needed", size));
  std::set<int> seen;
  for (int i = 0; devices != nullptr && i < size; ++i) {
    if (devices[i] < 0) throw Error(ncclInvalidArgument, fmt::format("there is no device {}", devices[i]));
    if (!seen.insert(devices[i]).second) {
      throw Error(ncclInvalidUsage, fmt::format("device {} is named twice", devices[i]));
    }
  }
  const ncclUniqueId id = process().roots.create();
  Group& group = Group::current();
  group.start();
  ncclResult_t result = ncclSuccess;
  for (int i = 0; i < size; ++i) {
    result =
        grouped([&](Group& g) { init_rank(g, comms + i, size, {id}, i, devices ? devices[i] : i, nullptr); });
    if (result != ncclSuccess) break;
  }
  const ncclResult_t ended = group.end();
  if (result == ncclSuccess) result = ended;
  if (result != ncclSuccess) {
    dismiss(decode(id));
    throw Error(result, last_error());
  }
}

}  // namespace detccl::hostnccl
