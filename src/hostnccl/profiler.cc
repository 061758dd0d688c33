// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/profiler.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hostnccl/error.h"
#include "profile/abi.h"
#include "profile/operation.h"

namespace detccl::hostnccl {
namespace {

namespace abi = profile::abi;

/// What plugins are asked for: bits of abi::Kind. One for the process, which a plugin may write at any time.
int the_mask = 0;

bool wanted(std::uint64_t kinds) {
  return (static_cast<unsigned>(__atomic_load_n(&the_mask, __ATOMIC_RELAXED)) & kinds) != 0;
}

const abi::Profiler5* open_plugin() {
  const char* name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name == nullptr || *name == '\0' || std::string(name) == "none") return nullptr;
  // As NCCL: the name as it is, then as part of a file's name.
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    library = dlopen(fmt::format("libnccl-profiler-{}.so", name).c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* found = library == nullptr ? nullptr : dlsym(library, "ncclProfiler_v5");
  if (found == nullptr)
    set_last_error(fmt::format("NCCL_PROFILER_PLUGIN={}: no ncclProfiler_v5 there", name));
  return static_cast<const abi::Profiler5*>(found);
}

const abi::Profiler5* plugin() {
  static const abi::Profiler5* const the_plugin = open_plugin();
  return the_plugin;
}

/// Plugins get NCCL's log; there is none here.
void log(int, unsigned long, const char*, int, const char*, ...) {
}

std::uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

const char* algorithm_of(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce_scatter || kind == Kind::reduce ? "RING" : "DIRECT";
}

abi::Event5 describe(const Operation& operation, int rank) {
  abi::Event5 event{};
  event.rank = rank;
  const char* type = profile::kTypeNames[static_cast<std::size_t>(operation.type)];
  if (is_point_to_point(operation.kind)) {
    event.kind = abi::point_to_point;
    event.point_to_point = {
        .function = name(operation.kind),
        .buffer = operation.kind == Kind::send ? const_cast<void*>(operation.send) : operation.receive,
        .datatype = type,
        .count = operation.count,
        .peer = static_cast<int>(operation.root),
        .channels = 1,
        .group = nullptr};
    return event;
  }
  event.kind = abi::collective;
  event.collective = {.sequence = 0,
                      .function = name(operation.kind),
                      .send = operation.send,
                      .receive = operation.receive,
                      .count = operation.count,
                      .root = static_cast<int>(operation.root),
                      .datatype = type,
                      .channels = 1,
                      .warps = 1,
                      .algorithm = algorithm_of(operation.kind),
                      .protocol = "SIMPLE",
                      .group = nullptr};
  return event;
}

}  // namespace

void Profiler::begin(std::uint64_t communicator, std::uint32_t rank, std::uint32_t size) noexcept {
  try {
    if (plugin() == nullptr) return;
  } catch (const std::exception&) {  // memory ran out: without it
    return;
  }
  rank_ = static_cast<int>(rank);
  static_cast<void>(
      plugin()->init(&context_, communicator, &the_mask, "", 1, static_cast<int>(size), rank_, log));
}

void Profiler::end() noexcept {
  if (context_ != nullptr) static_cast<void>(plugin()->finalize(std::exchange(context_, nullptr)));
}

Profiler::Event Profiler::start(const Operation& operation) noexcept {
  Event event;
  const std::uint64_t own = is_point_to_point(operation.kind) ? abi::point_to_point : abi::collective;
  if (context_ == nullptr) return event;
  if (!wanted(own | abi::kernel_channel)) {
    tell_group();
    return event;
  }
  abi::Event5 described = describe(operation, rank_);
  static_cast<void>(plugin()->start(context_, &event.operation, &described));
  if (!wanted(abi::kernel_channel)) return event;
  abi::Event5 kernel{};
  kernel.kind = abi::kernel_channel;
  kernel.parent = event.operation;
  kernel.rank = rank_;
  kernel.kernel_channel = {0, now()};
  static_cast<void>(plugin()->start(context_, &event.kernel, &kernel));
  return event;
}

/// All that a plugin hears of an operation that asks for no more.
void Profiler::tell_group() noexcept {
  if (!wanted(abi::group)) return;
  abi::Event5 group{};
  group.kind = abi::group;
  group.rank = rank_;
  void* handle = nullptr;
  static_cast<void>(plugin()->start(context_, &handle, &group));
  if (handle != nullptr) static_cast<void>(plugin()->stop(handle));
}

void Profiler::stop(const Event& event) noexcept {
  if (event.kernel != nullptr) {
    abi::StateArguments4 arguments{};
    arguments.timer = now();
    static_cast<void>(plugin()->record(event.kernel, abi::kernel_stopped, &arguments));
    static_cast<void>(plugin()->stop(event.kernel));
  }
  if (event.operation != nullptr) static_cast<void>(plugin()->stop(event.operation));
}

}  // namespace detccl::hostnccl
