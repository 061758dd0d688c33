// SPDX-License-Identifier: Apache-2.0
#include "observer.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "control.h"
#include "registry.h"
#include "steps.h"
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
  if (const auto communicator = registry().remove(context); communicator != nullptr)
    write_summary(*communicator);
}

/// For dl_iterate_phdr: the first library that has it.
int look(dl_phdr_info* object, std::size_t, void* found) {
  const std::string_view path = object->dlpi_name;
  if (!path.ends_with("/libdetccl.so") && !path.ends_with("/libnccl.so.2")) return 0;
  void* library = dlopen(object->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  void* symbol = dlsym(library, "detcclObserve");
  dlclose(library);
  *static_cast<void**>(found) = symbol;
  return symbol == nullptr ? 0 : 1;
}

/// Preloaded or linked; or opened with symbols of its own.
profile::Observe find_observe() {
  void* found = dlsym(RTLD_DEFAULT, "detcclObserve");
  if (found == nullptr) dl_iterate_phdr(look, &found);
  return reinterpret_cast<profile::Observe>(found);
}

void observer(const profile::Operation* given, profile::Moment moment, std::uint64_t nanoseconds) {
  try {
    if (given == nullptr || given->size < offsetof(profile::Operation, kernel)) return;
    profile::Operation operation;
    std::memcpy(&operation, given, std::min<std::size_t>(given->size, sizeof operation));
    if (moment == profile::Moment::ended) return end(operation);
    if (moment == profile::Moment::stepped) return step_begins(operation.count, now());
    if (moment > profile::Moment::calibrated) return;  // of a newer libdetccl.so
    const auto communicator = registry().find(context_of(operation));
    if (communicator == nullptr) return;
    if (recorded() != 0) communicator->observe(operation, moment, nanoseconds);
    write_if_due(*communicator);
  } catch (const std::exception&) {  // memory ran out: an operation less
  }
}

}  // namespace

void observe_detccl() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (asked() == 0) return;
    if (const profile::Observe observe = find_observe(); observe != nullptr) observe(observer);
  });
}

}  // namespace detccl::profiler
