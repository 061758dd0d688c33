// SPDX-License-Identifier: Apache-2.0
// NCCL's side of the profiler interface: opens the plugin and calls it, version by version, in the order and
// with the handles that NCCL 2.23 … 2.30 do.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "profile/abi.h"
#include "support/command.h"

namespace detccl::test {

namespace abi = profile::abi;

template <int V>
struct Version;
template <>
struct Version<1> {
  using Event = abi::Event1;
  using Profiler = abi::Profiler1;
};
template <>
struct Version<2> {
  using Event = abi::Event2;
  using Profiler = abi::Profiler2;
};
template <>
struct Version<3> {
  using Event = abi::Event3;
  using Profiler = abi::Profiler3;
};
template <>
struct Version<4> {
  using Event = abi::Event4;
  using Profiler = abi::Profiler4;
};
template <>
struct Version<5> {
  using Event = abi::Event5;
  using Profiler = abi::Profiler5;
};
template <>
struct Version<6> {
  using Event = abi::Event6;
  using Profiler = abi::Profiler6;
};

/// The plugin with settings of its own: it reads them once, so it is a copy of the file that is opened.
class Plugin {
 public:
  explicit Plugin(const std::string& events, const std::string& chain = "")
      : Plugin(DETCCL_PROFILER, events, chain) {}
  Plugin(const std::string& file, const std::string& events, const std::string& chain) {
    const std::string copy = folder_.file("plugin.so");
    std::filesystem::copy_file(file, copy);
    setenv("DETCCL_PROFILER_DIR", summaries().c_str(), 1);
    setenv("DETCCL_PROFILER_EVENTS", events.c_str(), 1);
    setenv("DETCCL_PROFILER_CHAIN", chain.c_str(), 1);
    library_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }

  template <int V>
  const typename Version<V>::Profiler& get() const {
    const void* found = dlsym(library_, ("ncclProfiler_v" + std::to_string(V)).c_str());
    if (found == nullptr) throw std::runtime_error("no version " + std::to_string(V));
    return *static_cast<const typename Version<V>::Profiler*>(found);
  }
  void close() { dlclose(library_); }

  std::string summaries() const { return folder_.file("summaries"); }
  std::vector<nlohmann::json> read() const {
    std::vector<nlohmann::json> found;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(summaries(), none)) {
      std::ifstream file(entry.path());
      found.push_back(nlohmann::json::parse(file));
    }
    return found;
  }

 private:
  Folder folder_;
  void* library_ = nullptr;
};

/// A call of the program.
struct Call {
  const char* function = "AllReduce";
  const char* datatype = "ncclFloat32";
  std::size_t count = 1024;
  int channels = 2;
  std::uint64_t gpu_began = 0, gpu_nanoseconds = 0;  ///< 0: no kernel events come back
  pid_t pid = getpid();                              ///< of the proxy's operations
};

template <int V>
class Nccl {
  using Event = typename Version<V>::Event;

 public:
  explicit Nccl(const Plugin& plugin) : profiler_(plugin.get<V>()) {}

  static inline int mask = 0;  ///< one for the process, as NCCL's
  static bool asks(std::uint64_t kinds) {
    return (static_cast<unsigned>(__atomic_load_n(&mask, __ATOMIC_RELAXED)) & kinds) == kinds;
  }

  void* init(std::uint64_t number, int rank, int ranks, const char* name = "world") {
    void* context = nullptr;
    abi::Result result = abi::success;
    if constexpr (V <= 3)
      result = profiler_.init(&context, &mask);
    else if constexpr (V == 4)
      result = profiler_.init(&context, &mask, name, number, 1, ranks, rank, nullptr);
    else
      result = profiler_.init(&context, number, &mask, name, 1, ranks, rank, nullptr);
    if (result != abi::success) throw std::runtime_error("init failed");
    number_ = number;
    rank_ = rank;
    return context;
  }
  void finalize(void* context) { profiler_.finalize(context); }

  void* start(void* context, Event event) {
    void* handle = &mask;  // what was there before
    profiler_.start(context, &handle, &event);
    return handle;
  }
  void stop(void* handle) {
    if (handle != nullptr) profiler_.stop(handle);
  }
  void record(void* handle, int state) {
    if (handle != nullptr) profiler_.record(handle, state, nullptr);
  }

  static Event event(std::uint64_t kind, void* parent = nullptr, int rank = 0) {
    Event e{};
    e.kind = static_cast<decltype(e.kind)>(kind);
    e.parent = parent;
    e.rank = rank;
    return e;
  }

  /// Everything up to the launch, on the program's thread. Returns the operation's event, which later ones
  /// have as their parent.
  void* launch(void* context, const Call& call) {
    void *group_call = nullptr, *api_call = nullptr, *group = nullptr;
    if constexpr (V >= 5) {
      group_call = start(context, event(abi::group_call));
      record(group_call, 23);
      Event e = event(abi::collective_call, group_call);
      e.collective_call = {call.function, call.count, call.datatype, 0, nullptr, false};
      api_call = start(context, e);
      stop(api_call);
      record(group_call, 24);
    }
    group = start(context, event(abi::group));
    Event e = event(abi::collective, V >= 5 ? api_call : group, rank_);
    e.collective.count = call.count;
    e.collective.channels = static_cast<std::uint8_t>(call.channels);
    if constexpr (V == 1) {
      e.collective.function = 4;  // AllReduce, float32, ring, simple
      e.collective.datatype = 7;
      e.collective.algorithm = 1;
      e.collective.protocol = 2;
    } else {
      e.collective.function = call.function;
      e.collective.datatype = call.datatype;
      e.collective.algorithm = "RING";
      e.collective.protocol = "SIMPLE";
    }
    if constexpr (V <= 3) {
      e.collective.communicator = number_;
      e.collective.communicator_name = "world";
    }
    if constexpr (V >= 5) e.collective.group = group;
    void* operation = start(context, e);
    stop(operation);
    stop(group);
    stop(group_call);
    return operation;
  }

  /// The proxy's part, on its thread, later.
  void progress(void* context, void* operation, const Call& call) {
    for (int channel = 0; channel < call.channels; ++channel) {
      if (asks(abi::proxy_operation) || asks(abi::proxy_step)) proxy(context, operation, call, channel);
      if constexpr (V >= 3) {
        if (asks(abi::kernel_channel) && call.gpu_nanoseconds != 0) kernel(context, operation, call, channel);
      }
    }
  }

  void all_reduce(void* context, const Call& call) { progress(context, launch(context, call), call); }

 private:
  void proxy(void* context, void* operation, const Call& call, int channel) {
    Event e = event(abi::proxy_operation, operation, rank_);
    e.proxy_operation = {call.pid, static_cast<std::uint8_t>(channel), 1, 4, 1 << 17, 1};
    void* handle = start(context, e);
    if constexpr (V >= 4) record(handle, abi::operation_in_progress);
    void* step = nullptr;
    if (asks(abi::proxy_step)) {
      Event s = event(abi::proxy_step, handle, rank_);
      s.proxy_step.step = 1;
      step = start(context, s);
      record(step, 9);
      stop(step);
    }
    stop(handle);
  }

  void kernel(void* context, void* operation, const Call& call, int channel) {
    if constexpr (V >= 3) {
      Event e = event(abi::kernel_channel, operation);
      e.kernel_channel.channel = static_cast<std::uint8_t>(channel);
      // The channels begin and end one after the other.
      const auto shift = static_cast<std::uint64_t>(channel) * 100;
      if constexpr (V >= 4) e.kernel_channel.timer = call.gpu_began + shift;
      void* handle = start(context, e);
      if (handle == nullptr) return;
      if constexpr (V >= 4) {
        abi::StateArguments4 arguments{};
        arguments.timer = call.gpu_began + shift + call.gpu_nanoseconds;
        profiler_.record(handle, abi::kernel_stopped, &arguments);
      }
      stop(handle);
    }
  }

  const typename Version<V>::Profiler& profiler_;
  std::uint64_t number_ = 0;
  int rank_ = 0;
};

}  // namespace detccl::test
