// SPDX-License-Identifier: Apache-2.0
#include "event.h"

#include <array>
#include <cstring>
#include <string_view>

#include "profile/operation.h"

namespace detccl::profiler {
namespace {

using namespace abi;
using profile::kTypeBytes;
using profile::kTypeNames;

/// Version 1 has numbers for what later ones have texts for: those of NCCL 2.23.
constexpr std::array<const char*, 8> kFunctions = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                                   "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr std::array<const char*, 7> kAlgorithms = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<const char*, 3> kProtocols = {"LL", "LL128", "SIMPLE"};

template <std::size_t N>
const char* text_of(const std::array<const char*, N>& texts, std::uint8_t number) {
  return number < N ? texts[number] : nullptr;
}

template <std::size_t N>
std::uint8_t number_of(const std::array<const char*, N>& texts, const char* text) {
  for (std::size_t i = 0; text != nullptr && i < N; ++i) {
    if (std::strcmp(texts[i], text) == 0) return static_cast<std::uint8_t>(i);
  }
  return 0xff;
}

template <class C>
void read_collective(const C& c, Event& e) {
  e.sequence = c.sequence;
  e.send = c.send;
  e.receive = c.receive;
  e.count = c.count;
  e.root = c.root;
  e.channels = c.channels;
  e.warps = c.warps;
  if constexpr (requires { c.op; }) {
    e.function = text_of(kFunctions, c.function);
    e.datatype = text_of(kTypeNames, c.datatype);
    e.algorithm = text_of(kAlgorithms, c.algorithm);
    e.protocol = text_of(kProtocols, c.protocol);
  } else {
    e.function = c.function;
    e.datatype = c.datatype;
    e.algorithm = c.algorithm;
    e.protocol = c.protocol;
  }
  if constexpr (requires { c.communicator; }) {
    e.communicator_name = c.communicator_name;
    e.communicator = c.communicator;
  }
  if constexpr (requires { c.group; }) e.group = c.group;
}

template <class P>
void read_point_to_point(const P& p, Event& e) {
  e.receive = p.buffer;
  e.count = p.count;
  e.root = p.peer;
  if constexpr (
      requires { p.function + std::uint8_t{}; } && !requires { p.function[0]; }) {
    e.function = text_of(kFunctions, p.function);
    e.datatype = text_of(kTypeNames, p.datatype);
  } else {
    e.function = p.function;
    e.datatype = p.datatype;
  }
  if constexpr (requires { p.communicator; }) {
    e.communicator_name = p.communicator_name;
    e.communicator = p.communicator;
  }
  if constexpr (requires { p.group; }) {
    e.channels = p.channels;
    e.group = p.group;
  }
}

template <class V>
Event read_any(const V& v) {
  Event e;
  e.kind = v.kind;
  e.parent = v.parent;
  e.rank = v.rank;
  if (v.kind == collective) read_collective(v.collective, e);
  if (v.kind == point_to_point) read_point_to_point(v.point_to_point, e);
  if (v.kind == proxy_operation) e.proxy_operation = v.proxy_operation;
  if (v.kind == proxy_step) e.step = v.proxy_step.step;
  if constexpr (requires { v.kernel_channel; }) {
    if (v.kind == kernel_channel) e.channel.channel = v.kernel_channel.channel;
    if constexpr (requires { v.kernel_channel.timer; }) {
      if (v.kind == kernel_channel) e.channel.timer = v.kernel_channel.timer;
    }
    if (v.kind == net_plugin) e.net_plugin = v.net_plugin;
  }
  return e;
}

template <class C>
void write_collective(const Event& e, C& c) {
  c.sequence = e.sequence;
  c.send = e.send;
  c.receive = e.receive;
  c.count = e.count;
  c.root = e.root;
  c.channels = static_cast<std::uint8_t>(e.channels);
  c.warps = static_cast<std::uint8_t>(e.warps);
  if constexpr (requires { c.op; }) {
    c.function = number_of(kFunctions, e.function);
    c.datatype = number_of(kTypeNames, e.datatype);
    c.algorithm = number_of(kAlgorithms, e.algorithm);
    c.protocol = number_of(kProtocols, e.protocol);
  } else {
    c.function = e.function;
    c.datatype = e.datatype;
    c.algorithm = e.algorithm;
    c.protocol = e.protocol;
  }
  if constexpr (requires { c.communicator; }) {
    c.communicator_name = e.communicator_name;
    c.communicator = e.communicator;
  }
}

template <class P>
void write_point_to_point(const Event& e, P& p) {
  p.buffer = e.receive;
  p.count = e.count;
  p.peer = e.root;
  if constexpr (!requires { p.function[0]; }) {
    p.function = number_of(kFunctions, e.function);
    p.datatype = number_of(kTypeNames, e.datatype);
  } else {
    p.function = e.function;
    p.datatype = e.datatype;
  }
  if constexpr (requires { p.communicator; }) {
    p.communicator_name = e.communicator_name;
    p.communicator = e.communicator;
  }
  if constexpr (requires { p.channels; }) p.channels = static_cast<std::uint8_t>(e.channels);
}

}  // namespace

Event read(const Event1& event) {
  return read_any(event);
}
Event read(const Event2& event) {
  return read_any(event);
}
Event read(const Event3& event) {
  return read_any(event);
}
Event read(const Event4& event) {
  return read_any(event);
}
Event read(const Event5& event) {
  return read_any(event);
}
Event read(const Event6& event) {
  return read_any(event);
}

template <class Version>
Version write(const Event& e) {
  Version v;
  std::memset(static_cast<void*>(&v), 0, sizeof v);
  v.kind = static_cast<decltype(v.kind)>(e.kind);
  v.parent = e.parent;
  v.rank = e.rank;
  if (e.kind == collective) write_collective(e, v.collective);
  if (e.kind == point_to_point) write_point_to_point(e, v.point_to_point);
  if (e.kind == proxy_operation) v.proxy_operation = e.proxy_operation;
  if (e.kind == proxy_step) v.proxy_step.step = e.step;
  if constexpr (requires { v.kernel_channel; }) {
    if (e.kind == kernel_channel) v.kernel_channel.channel = e.channel.channel;
    if constexpr (requires { v.kernel_channel.timer; }) {
      if (e.kind == kernel_channel) v.kernel_channel.timer = e.channel.timer;
    }
    if (e.kind == net_plugin) v.net_plugin = e.net_plugin;
  }
  return v;
}
template Event1 write<Event1>(const Event&);
template Event2 write<Event2>(const Event&);
template Event3 write<Event3>(const Event&);
template Event4 write<Event4>(const Event&);

std::uint64_t kinds_of(int version) {
  constexpr std::array<unsigned, 7> kBits = {0, 6, 6, 8, 8, 12, 15};
  return (std::uint64_t{1} << kBits[static_cast<std::size_t>(version)]) - 1;
}

bool comes_with(std::uint64_t kind, std::uint64_t mask) {
  constexpr std::uint64_t kProxies = proxy_operation | proxy_step | net_plugin;
  constexpr std::uint64_t kBelow = kProxies | kernel_channel;
  constexpr std::uint64_t kCopies = copy_collective | copy_sync | copy_batch;
  switch (kind) {
    case group_call:
      return (mask & (group_call | point_to_point_call | collective_call | kernel_launch | group |
                      collective | point_to_point | kBelow | kCopies)) != 0;
    case collective_call:
      return (mask & (collective_call | collective | kBelow | kCopies)) != 0;
    case point_to_point_call:
      return (mask & (point_to_point_call | point_to_point | kBelow)) != 0;
    case group:
      return (mask & (group | collective | point_to_point | kBelow)) != 0;
    case collective:
      return (mask & (collective | kBelow)) != 0;
    case point_to_point:
      return (mask & (point_to_point | kBelow)) != 0;
    case proxy_operation:
      return (mask & kProxies) != 0;
    case proxy_step:
      return (mask & (proxy_step | net_plugin)) != 0;
    case copy_collective:
      return (mask & kCopies) != 0;
    default:
      return (mask & kind) != 0;
  }
}

std::uint64_t bytes_of(const char* datatype) {
  const std::uint8_t number = number_of(kTypeNames, datatype);
  return number < kTypeBytes.size() ? kTypeBytes[number] : 0;
}

}  // namespace detccl::profiler
