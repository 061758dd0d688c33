// SPDX-License-Identifier: Apache-2.0
// The functions that NCCL calls: on the thread of the program's call, on its proxies' threads and in host
// functions of CUDA streams, so they call nothing of CUDA's. Nothing that goes wrong here is NCCL's concern:
// they answer success.
#include <atomic>
#include <exception>
#include <memory>

#include "chain.h"
#include "control.h"
#include "observer.h"
#include "registry.h"
#include "summary.h"

namespace detccl::profiler {
namespace {

/// Of NCCL's one mask for the process, which it reads while it may be written.
void set_mask(int* mask, const Communicator& c) {
  const int theirs = __atomic_load_n(&c.chain_mask, __ATOMIC_RELAXED);
  const int wanted = theirs | static_cast<int>(asked());
  if (__atomic_load_n(mask, __ATOMIC_RELAXED) != wanted) __atomic_store_n(mask, wanted, __ATOMIC_RELAXED);
}

template <class Function>
abi::Result guarded(Function&& function) noexcept {
  try {
    function();
  } catch (const std::exception&) {  // memory ran out: an event less
  }
  return abi::success;
}

/// Where the mask is, as NCCL said last.
std::atomic<int*>& mask_of_nccl() {
  static std::atomic<int*> the_mask{nullptr};
  return the_mask;
}

template <int V>
abi::Result init(void** context, int* mask, Identity identity, abi::Logger log) noexcept {
  *context = nullptr;
  return guarded([&] {
    identity.version = V;
    const Identity copy = identity;
    const std::shared_ptr<Communicator> communicator = registry().add(std::move(identity));
    if (communicator == nullptr) return;
    *context = Registry::context_of(*communicator);
    if (const Chain* other = chain(V); other != nullptr)
      communicator->has_chain = other->init(*communicator, copy, log);
    look_at_control();
    observe_detccl();
    mask_of_nccl() = mask;
    set_mask(mask, *communicator);
  });
}

abi::Result init1(void** context, int* mask) noexcept {
  return init<1>(context, mask, {}, nullptr);
}
abi::Result init2(void** context, int* mask) noexcept {
  return init<2>(context, mask, {}, nullptr);
}
abi::Result init3(void** context, int* mask) noexcept {
  return init<3>(context, mask, {}, nullptr);
}
Identity identity_of(const char* name, std::uint64_t communicator, int nodes, int ranks, int rank) {
  return {0, communicator, name == nullptr ? "" : name, rank, ranks, nodes};
}
abi::Result init4(void** context, int* mask, const char* name, std::uint64_t communicator, int nodes,
                  int ranks, int rank, abi::Logger log) noexcept {
  return init<4>(context, mask, identity_of(name, communicator, nodes, ranks, rank), log);
}
template <int V>
abi::Result init5(void** context, std::uint64_t communicator, int* mask, const char* name, int nodes,
                  int ranks, int rank, abi::Logger log) noexcept {
  return init<V>(context, mask, identity_of(name, communicator, nodes, ranks, rank), log);
}

/// Of what NCCL hands over, what the summary is made of.
bool measured(std::uint64_t kind, int version) {
  const std::uint64_t group = version >= 5 ? abi::group_call : abi::group;
  return (kind &
          (group | abi::collective | abi::point_to_point | abi::proxy_operation | abi::kernel_channel)) != 0;
}

void* translated(Communicator& c, const void* handle) {
  return handle == nullptr ? nullptr : c.chained(handle);
}

template <int V, class Raw>
abi::Result start(void* context, void** handle, Raw* raw) noexcept {
  *handle = nullptr;
  return guarded([&] {
    const std::uint64_t kind = raw->kind;
    const std::shared_ptr<Communicator> communicator = registry().find(context);
    if (communicator == nullptr) return;
    Communicator& c = *communicator;
    const bool wanted = measured(kind, V) && comes_with(kind, recorded());
    const Chain* other = c.has_chain ? chain(V) : nullptr;
    const auto theirs = static_cast<std::uint64_t>(__atomic_load_n(&c.chain_mask, __ATOMIC_RELAXED));
    const bool forwarded =
        other != nullptr && comes_with(kind, theirs) && (kind & kinds_of(other->version())) != 0;
    set_mask(mask_of_nccl(), c);
    // Where nothing is recorded these events are there to look for a change.
    if (kind == abi::group && recorded() == 0) write_if_due(c);
    if (!wanted && !forwarded) return;
    Event event = read(*raw);
    *handle = c.start(event, wanted);
    // On the thread of the program's call, as a rule; not on a proxy's.
    if (kind == abi::collective || kind == abi::point_to_point) write_if_due(c);
    if (!forwarded || *handle == nullptr) return;
    event.parent = is_foreign(event) ? nullptr : translated(c, event.parent);
    event.group = translated(c, event.group);
    c.set_chained(*handle, other->start(c, event, raw));
  });
}

template <int V>
abi::Result stop(void* handle) noexcept {
  return guarded([&] {
    const auto which = Handle::from(handle);
    const auto communicator = which ? registry().find(*which) : nullptr;
    if (communicator == nullptr) return;
    void* theirs = communicator->stop(handle);
    if (theirs != nullptr) chain(V)->stop(theirs);
  });
}

template <int V, class Arguments>
abi::Result record(void* handle, int state, Arguments* arguments) noexcept {
  return guarded([&] {
    const auto which = Handle::from(handle);
    const auto communicator = which ? registry().find(*which) : nullptr;
    if (communicator == nullptr) return;
    if constexpr (V >= 4) {
      if (state == abi::kernel_stopped && arguments != nullptr)
        communicator->kernel_stopped(handle, arguments->timer);
    }
    if (!communicator->has_chain) return;
    void* theirs = communicator->chained(handle);
    if (theirs != nullptr) chain(V)->record(theirs, state, arguments);
  });
}

template <int V>
abi::Result finalize(void* context) noexcept {
  return guarded([&] {
    const std::shared_ptr<Communicator> communicator = registry().remove(context);
    if (communicator == nullptr) return;
    if (communicator->has_chain) chain(V)->finalize(communicator->chain_context);
    write_summary(*communicator);
  });
}

constexpr const char* kName = "detccl";

}  // namespace
}  // namespace detccl::profiler

using namespace detccl::profiler;

extern "C" {
__attribute__((visibility("default"))) extern const abi::Profiler1 ncclProfiler_v1;
__attribute__((visibility("default"))) extern const abi::Profiler2 ncclProfiler_v2;
__attribute__((visibility("default"))) extern const abi::Profiler3 ncclProfiler_v3;
__attribute__((visibility("default"))) extern const abi::Profiler4 ncclProfiler_v4;
__attribute__((visibility("default"))) extern const abi::Profiler5 ncclProfiler_v5;
__attribute__((visibility("default"))) extern const abi::Profiler6 ncclProfiler_v6;

const abi::Profiler1 ncclProfiler_v1 = {kName, init1, start<1>, stop<1>, record<1>, finalize<1>};
const abi::Profiler2 ncclProfiler_v2 = {kName, init2, start<2>, stop<2>, record<2>, finalize<2>};
const abi::Profiler3 ncclProfiler_v3 = {kName, init3, start<3>, stop<3>, record<3>, finalize<3>};
const abi::Profiler4 ncclProfiler_v4 = {kName, init4, start<4>, stop<4>, record<4>, finalize<4>};
const abi::Profiler5 ncclProfiler_v5 = {kName, init5<5>, start<5>, stop<5>, record<5>, finalize<5>};
const abi::Profiler6 ncclProfiler_v6 = {kName, init5<6>, start<6>, stop<6>, record<6>, finalize<6>};
}
