// SPDX-License-Identifier: Apache-2.0
// Another profiler plugin, of the versions in TEST_VERSIONS (one digit each). It keeps a journal of what it
// is given, and its handles are pointers that it would crash without.
#include <deque>
#include <mutex>
#include <string>

#include "profile/abi.h"

namespace {

namespace abi = detccl::profile::abi;

std::mutex mutex;
std::string journal;
int wanted_mask = 0;
int* mask_place = nullptr;

struct Mine {
  std::uint64_t kind;
};
std::deque<Mine> handles;  // to the end: others may name them as their parents

Mine* make(std::uint64_t kind) {
  const std::lock_guard lock(mutex);
  return &handles.emplace_back(Mine{kind});
}

void note(const std::string& line) {
  const std::lock_guard lock(mutex);
  journal += line + "\n";
}

abi::Result begin(void** context, int* mask, std::uint64_t communicator, int rank) {
  *context = new std::uint64_t(communicator);
  *mask = wanted_mask;
  mask_place = mask;
  note("init " + std::to_string(communicator) + " " + std::to_string(rank));
  return abi::success;
}
[[maybe_unused]] abi::Result init_old(void** context, int* mask) {
  return begin(context, mask, 0, -1);
}
[[maybe_unused]] abi::Result init_4(void** context, int* mask, const char*, std::uint64_t communicator, int,
                                    int, int rank, abi::Logger) {
  return begin(context, mask, communicator, rank);
}
[[maybe_unused]] abi::Result init_5(void** context, std::uint64_t communicator, int* mask, const char*, int,
                                    int, int rank, abi::Logger) {
  return begin(context, mask, communicator, rank);
}

template <class Event>
std::string details(const Event& event) {
  if (event.kind != abi::collective) return "";
  if constexpr (requires { event.collective.op; }) {
    return " " + std::to_string(event.collective.function) + " " + std::to_string(event.collective.count);
  } else {
    return std::string(" ") + event.collective.function + " " + std::to_string(event.collective.count);
  }
}

template <class Event>
abi::Result start(void* context, void** handle, Event* event) {
  *handle = make(event->kind);
  const auto* parent = static_cast<const Mine*>(event->parent);
  note("start " + std::to_string(event->kind) + " under " +
       std::to_string(parent == nullptr ? 0 : parent->kind) + details(*event) +
       (*static_cast<std::uint64_t*>(context) == 0
            ? ""
            : " of " + std::to_string(*static_cast<std::uint64_t*>(context))));
  return abi::success;
}
abi::Result stop(void* handle) {
  note("stop " + std::to_string(static_cast<Mine*>(handle)->kind));
  return abi::success;
}
template <class Arguments>
abi::Result record(void* handle, int state, Arguments*) {
  note("record " + std::to_string(state) + " " + std::to_string(static_cast<Mine*>(handle)->kind));
  return abi::success;
}
abi::Result finalize(void* context) {
  note("finalize " + std::to_string(*static_cast<std::uint64_t*>(context)));
  delete static_cast<std::uint64_t*>(context);
  return abi::success;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void other_want(int mask) {
  wanted_mask = mask;
  if (mask_place != nullptr) __atomic_store_n(mask_place, mask, __ATOMIC_RELAXED);
}
__attribute__((visibility("default"))) const char* other_journal() {
  return journal.c_str();
}

#if TEST_VERSIONS == 1
__attribute__((visibility("default"))) extern const abi::Profiler1 ncclProfiler_v1;
const abi::Profiler1 ncclProfiler_v1 = {
    "other", init_old, start<abi::Event1>, stop, record<abi::StateArguments1>, finalize};
#elif TEST_VERSIONS == 2
__attribute__((visibility("default"))) extern const abi::Profiler2 ncclProfiler_v2;
const abi::Profiler2 ncclProfiler_v2 = {
    "other", init_old, start<abi::Event2>, stop, record<abi::StateArguments1>, finalize};
#elif TEST_VERSIONS == 3
__attribute__((visibility("default"))) extern const abi::Profiler3 ncclProfiler_v3;
const abi::Profiler3 ncclProfiler_v3 = {
    "other", init_old, start<abi::Event3>, stop, record<abi::StateArguments1>, finalize};
#elif TEST_VERSIONS == 6
__attribute__((visibility("default"))) extern const abi::Profiler6 ncclProfiler_v6;
const abi::Profiler6 ncclProfiler_v6 = {
    "other", init_5, start<abi::Event6>, stop, record<abi::StateArguments4>, finalize};
#endif
#if TEST_VERSIONS == 4 || TEST_VERSIONS == 45
__attribute__((visibility("default"))) extern const abi::Profiler4 ncclProfiler_v4;
const abi::Profiler4 ncclProfiler_v4 = {
    "other", init_4, start<abi::Event4>, stop, record<abi::StateArguments4>, finalize};
#endif
#if TEST_VERSIONS == 5 || TEST_VERSIONS == 45
__attribute__((visibility("default"))) extern const abi::Profiler5 ncclProfiler_v5;
const abi::Profiler5 ncclProfiler_v5 = {
    "other", init_5, start<abi::Event5>, stop, record<abi::StateArguments4>, finalize};
#endif
}
