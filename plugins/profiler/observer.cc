// SPDX-License-Identifier: Apache-2.0
#include "observer.h"

#include <dlfcn.h>

#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "registry.h"
#include "settings.h"
#include "summary.h"

namespace detccl::profiler {
namespace {

/// A rank's end of a communicator -> what NCCL would hold for it.
struct Contexts {
  std::mutex mutex;
  std::map<std::pair<std::uint64_t, int>, void*> contexts;
};
Contexts& contexts() {
  static Contexts& the_contexts = *new Contexts;
  return the_contexts;
}

void* context_of(const profile::Operation& operation) {
  Contexts& all = contexts();
  const std::lock_guard lock(all.mutex);
  void*& context = all.contexts[{operation.communicator, operation.rank}];
  if (context != nullptr) return context;
  const auto communicator =
      registry().add({0, operation.communicator, "DetCCL", operation.rank, operation.ranks, 0});
  if (communicator != nullptr) context = Registry::context_of(*communicator);
  return context;
}

void end(const profile::Operation& operation) {
  Contexts& all = contexts();
  void* context = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.contexts.find({operation.communicator, operation.rank});
    if (found == all.contexts.end()) return;
    context = found->second;
    all.contexts.erase(found);
  }
  if (const auto communicator = registry().remove(context); communicator != nullptr) write_summary(*communicator);
}

void observer(const profile::Operation* operation, profile::Moment moment, std::uint64_t nanoseconds) {
  try {
    if (operation == nullptr || operation->size < sizeof(profile::Operation)) return;
    if (moment == profile::Moment::ended) return end(*operation);
    const auto communicator = registry().find(context_of(*operation));
    if (communicator != nullptr) communicator->observe(*operation, moment, nanoseconds);
  } catch (const std::exception&) {  // memory ran out: an operation less
  }
}

}  // namespace

void observe_detccl() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (settings().mask == 0) return;
    const auto observe = reinterpret_cast<profile::Observe>(dlsym(RTLD_DEFAULT, "detcclObserve"));
    if (observe != nullptr) observe(observer);
  });
}

}  // namespace detccl::profiler
