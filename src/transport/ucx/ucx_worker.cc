// SPDX-License-Identifier: Apache-2.0
#include "transport/ucx/ucx_worker.h"

#include <stdexcept>

namespace detccl::transport {

UcxWorker::UcxWorker() : state_(std::make_unique<State>(ucx::shared_context())) {
  const ucx::Api& api = state_->context->api();
  const auto check = [&api](ucs_status_t status, const char* what) {
    if (status != UCS_OK) throw std::runtime_error(std::string(what) + ": " + api.status_string(status));
  };
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  check(api.worker_create(state_->context->handle(), &params, &state_->worker), "cannot create a UCX worker");
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  check(api.worker_get_address(state_->worker, &address, &length), "a UCX worker has no address");
  state_->address.assign(reinterpret_cast<const char*>(address), length);
  api.worker_release_address(state_->worker, address);
}

UcxWorker::~UcxWorker() = default;

const std::string& UcxWorker::address() const {
  return state_->address;
}

}  // namespace detccl::transport
