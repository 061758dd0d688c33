// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler interface in its six versions, as far as bytes go: what NCCL 2.23 … 2.30 hands to a plugin.
// The names are DetCCL's own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace detccl::profile::abi {

enum Result : int { success = 0, system_error = 2 };

/// Kinds of events, as bits of the mask that a plugin answers with.
enum Kind : std::uint64_t {
  group = 1u << 0,
  collective = 1u << 1,
  point_to_point = 1u << 2,
  proxy_operation = 1u << 3,
  proxy_step = 1u << 4,
  proxy_control = 1u << 5,
  kernel_channel = 1u << 6,  ///< from version 3 on
  net_plugin = 1u << 7,
  group_call = 1u << 8,  ///< from version 5 on
  collective_call = 1u << 9,
  point_to_point_call = 1u << 10,
  kernel_launch = 1u << 11,
  copy_collective = 1u << 12,  ///< from version 6 on
  copy_sync = 1u << 13,
  copy_batch = 1u << 14,
};

/// States of an event that are told (of many).
enum State : int {
  first_step = 8,
  last_step = 12,
  first_control = 13,
  last_control = 18,
  operation_in_progress = 19,  ///< from version 4 on, as the following
  send_peer_wait = 20,
  net_plugin_update = 21,
  kernel_stopped = 22,
};

struct ProxyOperation {
  pid_t pid;  ///< of the process whose operation it is: not this one where a proxy works for another
  std::uint8_t channel;
  int peer;
  int steps;
  int chunk_bytes;
  int is_send;
};
struct ProxyStep {
  int step;
};
struct NetPlugin {
  std::int64_t id;
  void* data;
};
struct Channel {
  std::uint8_t channel;
};
struct TimedChannel {
  std::uint8_t channel;
  std::uint64_t timer;  ///< of the GPU, in nanoseconds
};

struct Collective1 {
  const char* communicator_name;
  std::uint64_t communicator;
  std::uint64_t sequence;
  std::uint8_t function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  std::uint8_t datatype;
  std::uint32_t op;
  std::size_t traffic;
  std::uint8_t channels;
  std::uint8_t warps;
  std::uint8_t algorithm;
  std::uint8_t protocol;
  int collnet;
  int nvls;
};
struct Collective2 {
  const char* communicator_name;
  std::uint64_t communicator;
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t traffic;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct Collective3 {
  const char* communicator_name;
  std::uint64_t communicator;
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct Collective4 {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
struct Collective5 {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* group;  ///< the event that was the parent before version 5
};

struct PointToPoint1 {
  const char* communicator_name;
  std::uint64_t communicator;
  std::uint8_t function;
  void* buffer;
  std::uint8_t datatype;
  std::size_t count;
  int peer;
};
struct PointToPoint2 {
  const char* communicator_name;
  std::uint64_t communicator;
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
};
struct PointToPoint4 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};
struct PointToPoint5 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* group;
};

struct GroupCall {
  bool captured;
  int depth;
};
struct CollectiveCall {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool captured;
};
struct PointToPointCall {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool captured;
};
struct KernelLaunch {
  void* stream;
};
struct CopyCollective {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;
  const char* sync_strategy;
  bool sync_in_batches;
  std::uint32_t batch;
  std::uint32_t batches;
  std::uint32_t copy_sequence;
  void* stream;
};
struct CopySync {
  bool complete;
  int ranks;
};
struct CopyBatch {
  int operations;
  std::size_t bytes;
  bool sync;
};

struct Event1 {
  std::uint8_t kind;
  void* parent;
  int rank;
  union {
    Collective1 collective;
    PointToPoint1 point_to_point;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
  };
};
struct Event2 {
  std::uint8_t kind;
  void* parent;
  int rank;
  union {
    Collective2 collective;
    PointToPoint2 point_to_point;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
  };
};
struct Event3 {
  std::uint8_t kind;
  void* parent;
  int rank;
  union {
    Collective3 collective;
    PointToPoint2 point_to_point;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
    Channel kernel_channel;
    NetPlugin net_plugin;
  };
};
struct Event4 {
  std::uint8_t kind;
  void* parent;
  int rank;
  union {
    Collective4 collective;
    PointToPoint4 point_to_point;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
    TimedChannel kernel_channel;
    NetPlugin net_plugin;
  };
};
struct Event5 {
  std::uint64_t kind;
  void* parent;
  int rank;
  union {
    GroupCall group_call;
    CollectiveCall collective_call;
    PointToPointCall point_to_point_call;
    KernelLaunch kernel_launch;
    Collective5 collective;
    PointToPoint5 point_to_point;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
    TimedChannel kernel_channel;
    NetPlugin net_plugin;
  };
};
struct Event6 {
  std::uint64_t kind;
  void* parent;
  int rank;
  union {
    GroupCall group_call;
    CollectiveCall collective_call;
    PointToPointCall point_to_point_call;
    KernelLaunch kernel_launch;
    Collective5 collective;
    PointToPoint5 point_to_point;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
    TimedChannel kernel_channel;
    NetPlugin net_plugin;
    CopyCollective copy_collective;
    CopySync copy_sync;
    CopyBatch copy_batch;
  };
};
static_assert(sizeof(void*) == 8 && sizeof(Event1) == 120 && sizeof(Event2) == 128 && sizeof(Event3) == 120);
static_assert(sizeof(Event4) == 104 && sizeof(Event5) == 112 && sizeof(Event6) == 112);

/// What an event's state comes with; may be null. In version 3 and before …
union StateArguments1 {
  struct {
    std::size_t bytes;
    int steps;
  } proxy_operation;
  int appended;  ///< control states
};
/// … and after it.
union StateArguments4 {
  std::size_t bytes;  ///< steps of a proxy
  int appended;
  void* data;           ///< net_plugin_update
  std::uint64_t timer;  ///< kernel_stopped
};

using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

template <class Event, class Arguments>
struct Functions1 {
  const char* name;
  Result (*init)(void** context, int* mask);
  Result (*start)(void* context, void** handle, Event* event);
  Result (*stop)(void* handle);
  Result (*record)(void* handle, int state, Arguments* arguments);
  Result (*finalize)(void* context);
};
using Profiler1 = Functions1<Event1, StateArguments1>;
using Profiler2 = Functions1<Event2, StateArguments1>;
using Profiler3 = Functions1<Event3, StateArguments1>;

struct Profiler4 {
  const char* name;
  Result (*init)(void** context, int* mask, const char* communicator_name, std::uint64_t communicator,
                 int nodes, int ranks, int rank, Logger log);
  Result (*start)(void* context, void** handle, Event4* event);
  Result (*stop)(void* handle);
  Result (*record)(void* handle, int state, StateArguments4* arguments);
  Result (*finalize)(void* context);
};

template <class Event>
struct Functions5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, int* mask, const char* communicator_name,
                 int nodes, int ranks, int rank, Logger log);
  Result (*start)(void* context, void** handle, Event* event);
  Result (*stop)(void* handle);
  Result (*record)(void* handle, int state, StateArguments4* arguments);
  Result (*finalize)(void* context);
};
using Profiler5 = Functions5<Event5>;
using Profiler6 = Functions5<Event6>;

}  // namespace detccl::profile::abi
