// SPDX-License-Identifier: Apache-2.0
#include "chain.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <mutex>

#include "settings.h"

namespace detccl::profiler {
namespace {

template <int V>
struct Of;
template <>
struct Of<1> {
  using Event = abi::Event1;
  using Profiler = abi::Profiler1;
};
template <>
struct Of<2> {
  using Event = abi::Event2;
  using Profiler = abi::Profiler2;
};
template <>
struct Of<3> {
  using Event = abi::Event3;
  using Profiler = abi::Profiler3;
};
template <>
struct Of<4> {
  using Event = abi::Event4;
  using Profiler = abi::Profiler4;
};
template <>
struct Of<5> {
  using Event = abi::Event5;
  using Profiler = abi::Profiler5;
};
template <>
struct Of<6> {
  using Event = abi::Event6;
  using Profiler = abi::Profiler6;
};

bool is_control(int state) {
  return state >= abi::first_control && state <= abi::last_control;
}
bool is_step(int state) {
  return state >= abi::first_step && state <= abi::last_step;
}

/// NCCL speaks version `From`, the other plugin `To`.
template <int From, int To>
class ChainOf final : public Chain {
  using Event_ = typename Of<To>::Event;

 public:
  explicit ChainOf(const typename Of<To>::Profiler& other) : other_(other) {}

  int version() const override { return To; }

  bool init(Communicator& c, const Identity& id, abi::Logger log) const override {
    c.chain_context = nullptr;
    c.chain_mask = 0;
    abi::Result result = abi::success;
    if constexpr (To <= 3) {
      result = other_.init(&c.chain_context, &c.chain_mask);
    } else if constexpr (To == 4) {
      result = other_.init(&c.chain_context, &c.chain_mask, id.name.c_str(), id.communicator, id.nodes,
                           id.ranks, id.rank, log);
    } else {
      result = other_.init(&c.chain_context, id.communicator, &c.chain_mask, id.name.c_str(), id.nodes,
                           id.ranks, id.rank, log);
    }
    return result == abi::success;
  }

  void* start(Communicator& c, const Event& event, const void* raw) const override {
    Event_ copy;
    if constexpr (From >= 5 && To >= 5) {
      static_assert(sizeof(Event_) <= sizeof(typename Of<From>::Event));
      std::memcpy(static_cast<void*>(&copy), raw, sizeof copy);  // version 6 only has more kinds
      copy.parent = event.parent;
      if (event.kind == abi::collective) copy.collective.group = event.group;
      if (event.kind == abi::point_to_point) copy.point_to_point.group = event.group;
    } else if constexpr (From == To) {
      std::memcpy(static_cast<void*>(&copy), raw, sizeof copy);
      copy.parent = event.parent;
    } else {
      copy = write<Event_>(event);
      // Before version 5 an operation's parent was its group.
      const bool operation = event.kind == abi::collective || event.kind == abi::point_to_point;
      if (From >= 5 && operation) copy.parent = event.group;
    }
    void* handle = nullptr;
    static_cast<void>(other_.start(c.chain_context, &handle, &copy));
    return handle;
  }

  void stop(void* handle) const override { static_cast<void>(other_.stop(handle)); }

  void record(void* handle, int state, const void* arguments) const override {
    if constexpr ((From <= 3) == (To <= 3)) {
      using Arguments = std::conditional_t<To <= 3, abi::StateArguments1, abi::StateArguments4>;
      if (To == 4 && state > abi::kernel_stopped) return;
      Arguments copy{};
      if (arguments != nullptr) std::memcpy(&copy, arguments, sizeof copy);
      static_cast<void>(other_.record(handle, state, arguments == nullptr ? nullptr : &copy));
    } else {
      abi::StateArguments1 copy{};
      if (is_control(state) && arguments != nullptr)
        copy.appended = static_cast<const abi::StateArguments4*>(arguments)->appended;
      if (is_control(state) || is_step(state)) static_cast<void>(other_.record(handle, state, &copy));
    }
  }

  void finalize(void* context) const override { static_cast<void>(other_.finalize(context)); }

 private:
  const typename Of<To>::Profiler& other_;
};

/// The newest version up to `To`.
template <int From, int To = From>
std::unique_ptr<Chain> find(void* library) {
  if constexpr (To == 0) {
    return nullptr;
  } else {
    if (const void* other = dlsym(library, fmt::format("ncclProfiler_v{}", To).c_str()); other != nullptr)
      return std::make_unique<ChainOf<From, To>>(*static_cast<const typename Of<To>::Profiler*>(other));
    return find<From, To - 1>(library);
  }
}

std::unique_ptr<Chain> open(int version) {
  const std::string& file = settings().chain;
  if (file.empty()) return nullptr;
  // As NCCL: a plugin must not see this one's symbols, nor this one its.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    say(fmt::format("DETCCL_PROFILER_CHAIN: {}", dlerror()));
    return nullptr;
  }
  constexpr std::unique_ptr<Chain> (*kFind[])(void*) = {find<1>, find<2>, find<3>, find<4>, find<5>, find<6>};
  std::unique_ptr<Chain> found = kFind[version - 1](library);
  if (found == nullptr)
    say(fmt::format("DETCCL_PROFILER_CHAIN: {} has no ncclProfiler_v1 … v{}", file, version));
  return found;
}

}  // namespace

const Chain* chain(int version) {
  // One NCCL in a process speaks one version; several may be there all the same.
  static std::mutex mutex;
  static std::unique_ptr<Chain>* const chains = new std::unique_ptr<Chain>[7];
  static bool tried[7];
  const std::lock_guard lock(mutex);
  const auto v = static_cast<std::size_t>(version);
  if (!tried[v]) {
    tried[v] = true;
    chains[v] = open(version);
  }
  return chains[v].get();
}

}  // namespace detccl::profiler
