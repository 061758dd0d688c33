// SPDX-License-Identifier: Apache-2.0
// The few functions of libucp that are used, and the UCX context that all workers of the process share.
#pragma once

#include <memory>
#include <string>

#include <ucp/api/ucp.h>

namespace detccl::transport::ucx {

/// libucp's functions, found with dlopen. The library is never unloaded.
struct Api {
  decltype(&ucp_config_read) config_read = nullptr;
  decltype(&ucp_config_release) config_release = nullptr;
  decltype(&ucp_init_version) init_version = nullptr;
  decltype(&ucp_cleanup) cleanup = nullptr;
  decltype(&ucp_worker_create) worker_create = nullptr;
  decltype(&ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&ucp_worker_query) worker_query = nullptr;
  decltype(&ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&ucp_worker_progress) worker_progress = nullptr;
  decltype(&ucp_ep_create) ep_create = nullptr;
  decltype(&ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&ucp_ep_flush_nbx) ep_flush_nbx = nullptr;
  decltype(&ucp_tag_send_nbx) tag_send_nbx = nullptr;
  decltype(&ucp_tag_recv_nbx) tag_recv_nbx = nullptr;
  decltype(&ucp_request_cancel) request_cancel = nullptr;
  decltype(&ucp_request_check_status) request_check_status = nullptr;
  decltype(&ucp_request_free) request_free = nullptr;
  decltype(&ucs_status_string) status_string = nullptr;
};

/// A UCX context; cleaned up with its last owner.
class Context {
 public:
  explicit Context(const Api& api);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Api& api() const { return api_; }
  ucp_context_h handle() const { return handle_; }

 private:
  const Api& api_;
  ucp_context_h handle_ = nullptr;
};

/// The process's context, made at the first call and after the last owner has gone. Any thread may call it.
/// Throws std::runtime_error, naming the cause, where UCX cannot be loaded or initialised.
std::shared_ptr<Context> shared_context();

}  // namespace detccl::transport::ucx
