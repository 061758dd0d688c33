// SPDX-License-Identifier: Apache-2.0
// Inside the room: what a worker is made of.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "transport/ucx/ucx_api.h"
#include "transport/ucx/ucx_exchange.h"

namespace detccl::transport {

struct UcxWorker::State {
  explicit State(std::shared_ptr<ucx::Context> c) : context(std::move(c)) {}
  ~State() {
    if (worker != nullptr) context->api().worker_destroy(worker);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<ucx::Context> context;
  ucp_worker_h worker = nullptr;
  std::string address;
};

}  // namespace detccl::transport
