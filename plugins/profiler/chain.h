// SPDX-License-Identifier: Apache-2.0
// Another profiler plugin behind this one (DETCCL_PROFILER_CHAIN), for NCCL loads only one. It gets what NCCL
// would have given it: the events of its mask and those that they belong to, in the newest version that both
// it and the NCCL above have.
#pragma once

#include <cstdint>
#include <memory>

#include "communicator.h"

namespace detccl::profiler {

class Chain {
 public:
  virtual ~Chain() = default;

  virtual int version() const = 0;
  /// False: it wants nothing to do with this communicator.
  virtual bool init(Communicator& communicator, const Identity& identity, abi::Logger log) const = 0;
  /// `raw`: the event as NCCL's version has it; `event`: the same, its parent and group being the other
  /// plugin's handles. Returns the other plugin's handle.
  virtual void* start(Communicator& communicator, const Event& event, const void* raw) const = 0;
  virtual void stop(void* handle) const = 0;
  /// `arguments`: as NCCL's version has them; may be null.
  virtual void record(void* handle, int state, const void* arguments) const = 0;
  virtual void finalize(void* context) const = 0;
};

/// For an NCCL that speaks `version`: opened at the first call, never closed. Null: there is none, or it
/// cannot be used, which is told on standard error.
const Chain* chain(int version);

}  // namespace detccl::profiler
