// SPDX-License-Identifier: Apache-2.0
// An event of any version of the interface, and back.
#pragma once

#include <cstdint>

#include "profile/abi.h"

namespace detccl::profiler {

namespace abi = profile::abi;

/// Texts are NCCL's, and good for the call only; null or empty where the version does not tell.
struct Event {
  std::uint64_t kind = 0;
  void* parent = nullptr;
  int rank = -1;
  const char* communicator_name = nullptr;  ///< with communicator: before version 4
  std::uint64_t communicator = 0;
  std::uint64_t sequence = 0;
  const char* function = nullptr;
  const char* datatype = nullptr;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  const void* send = nullptr;
  void* receive = nullptr;  ///< or the buffer of a point-to-point operation
  std::uint64_t count = 0;
  int root = -1;  ///< or the peer
  int channels = 0, warps = 0;
  void* group = nullptr;
  abi::ProxyOperation proxy_operation{};
  int step = 0;
  abi::TimedChannel channel{};
  abi::NetPlugin net_plugin{};
};

Event read(const abi::Event1& event);
Event read(const abi::Event2& event);
Event read(const abi::Event3& event);
Event read(const abi::Event4& event);
Event read(const abi::Event5& event);
Event read(const abi::Event6& event);

/// As `Version` writes it; for kinds that the version has.
template <class Version>
Version write(const Event& event);

/// The kinds that version 1 … 6 has.
std::uint64_t kinds_of(int version);

/// Whether NCCL hands over events of `kind` to a plugin that asks for those in `mask`: with an event it also
/// hands over those that it belongs to.
bool comes_with(std::uint64_t kind, std::uint64_t mask);

/// Bytes of an element of NCCL's type "ncclFloat32" …; 0 if it is none.
std::uint64_t bytes_of(const char* datatype);

}  // namespace detccl::profiler
