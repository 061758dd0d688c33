// SPDX-License-Identifier: Apache-2.0
// What one rank's end of a communicator did.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "event.h"
#include "profile/operation.h"
#include "profile/pairs.h"
#include "profile/sketch.h"
#include "slots.h"
#include "steps.h"

namespace detccl::profiler {

/// As NCCL introduces it; before version 4 the events do.
struct Identity {
  int version = 0;  ///< of the interface
  std::uint64_t communicator = 0;
  std::string name;
  int rank = -1, ranks = 0, nodes = 0;  ///< -1, 0: not told
};

/// Operations of the same kind. `doubling`: of bytes in the call, 0 for 0, else 1 + log2 rounded down.
struct ClassKey {
  std::string function, datatype, algorithm, protocol;
  unsigned doubling = 0;
};

class Class {
 public:
  std::uint64_t count = 0, bytes = 0;
  CallsInSteps in_steps;
  profile::Sketch gpu, network;
  /// Of the nanoseconds in `gpu`, what went into …; of reductions for which that is known.
  std::uint64_t transfer = 0, fold = 0, wait = 0, kernel = 0;
  profile::Pairs pairs, calibration;
};

class Communicator {
 public:
  struct Less {
    using is_transparent = void;
    using View = std::tuple<unsigned, std::string_view, std::string_view, std::string_view, std::string_view>;
    static View view(const ClassKey& k) {
      return {k.doubling, k.function, k.datatype, k.algorithm, k.protocol};
    }
    static const View& view(const View& v) { return v; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) < view(b);
    }
  };
  using Classes = std::map<ClassKey, Class, Less>;

  Communicator(std::uint16_t number, Identity identity);

  std::uint16_t number() const { return number_; }
  bool has_chain = false;         ///< with the two below: set before the first event
  void* chain_context = nullptr;  ///< of the other plugin
  int chain_mask = 0;             ///< the other plugin writes it whenever it likes

  /// Any thread, all of them. `wanted`: the event is one that DetCCL asked for. Null: nothing is kept of it.
  void* start(const Event& event, bool wanted);
  void set_chained(void* handle, void* chained);
  /// The other plugin's handle; null if there is none, or the event has stopped.
  void* chained(const void* handle);
  void kernel_stopped(const void* handle, std::uint64_t timer);
  /// The other plugin's handle.
  void* stop(const void* handle);

  /// A reduction of libdetccl.so's own.
  void observe(const profile::Operation& operation, profile::Moment moment, std::uint64_t nanoseconds);

  struct Snapshot {
    Identity identity;
    Classes classes;
    profile::Sketch groups;     ///< host time of group calls; before version 5: of what is behind them
    std::uint64_t dropped = 0;  ///< events that nothing could be kept of
    std::map<std::string, std::uint64_t> not_paired;  ///< by the reason
    std::uint64_t began = 0, ended = 0;
  };
  /// What is known now, children that have come back included.
  Snapshot snapshot();

  /// Whether `period` nanoseconds have passed since this was last so, or since the communicator was made. Not
  /// 0.
  bool is_due(std::uint64_t period);

  std::string file;  ///< where the summary goes, once it has been written; for one thread at a time
  std::mutex writing;

 private:
  Slot* find(const void* handle);
  Class& class_of(const Event& event);
  void introduce(const Event& event);
  void count_for_parent(const Slot& child);
  static void add_times(const Slot& slot, Class& to);

  const std::uint16_t number_;
  std::mutex mutex_;
  Snapshot known_;  ///< without the times of operations in slots
  Slots slots_;
  std::atomic<std::uint64_t> last_due_;
};

/// Whether it is another process's, for which this one's proxy works: its parent is a handle of that process.
bool is_foreign(const Event& event);

/// Of the host, in nanoseconds.
std::uint64_t now();

}  // namespace detccl::profiler
