// SPDX-License-Identifier: Apache-2.0
// Exchanges between processes (and threads) over UCX. libucp is opened with dlopen when the first worker is
// made, so what links this has no UCX dependency.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/exchange.h"

namespace detccl::transport {

/// One UCX worker: made first, so that its address can be exchanged; then turned into an exchange.
class UcxWorker {
 public:
  /// Throws std::runtime_error, naming the cause, where UCX cannot be loaded or initialised.
  UcxWorker();
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  /// Opaque bytes by which any other rank reaches this worker.
  const std::string& address() const;

  /// The exchange of rank `rank` among `addresses.size()` ranks (addresses[i] is rank i's; the own one is not
  /// used). Endpoints are made at first use. The worker is moved into the exchange.
  static std::unique_ptr<Exchange> connect(std::unique_ptr<UcxWorker> worker, std::uint32_t rank,
                                           std::vector<std::string> addresses);

 private:
  friend class UcxExchange;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detccl::transport
