// SPDX-License-Identifier: Apache-2.0
#include "transport/ucx/ucx_api.h"

#include <array>
#include <csignal>
#include <mutex>
#include <stdexcept>

#include <dlfcn.h>

namespace detccl::transport::ucx {
namespace {

constexpr const char* kLibrary = "libucp.so.0";

/// The oldest API that has all we use; newer libraries accept it.
constexpr unsigned kApiMajor = 1, kApiMinor = 13;

/// While it is being loaded, UCX installs handlers of its own for these signals (its UCX_HANDLE_ERRORS and
/// UCX_DEBUG_SIGNO defaults). They are the host program's: put back what was there.
class SignalKeeper {
 public:
  SignalKeeper() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], nullptr, &before_[i]);
  }
  ~SignalKeeper() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalKeeper(const SignalKeeper&) = delete;
  SignalKeeper& operator=(const SignalKeeper&) = delete;

 private:
  static constexpr std::array<int, 6> kSignals = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGHUP, SIGABRT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

void* open_library() {
  // Already there, through Open MPI for instance: its handlers are the program's choice.
  if (void* loaded = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  const SignalKeeper keeper;
  if (void* opened = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return opened;
  const char* why = dlerror();
  throw std::runtime_error(std::string("cannot load UCX: ") + (why != nullptr ? why : kLibrary));
}

template <class Function>
void find(void* library, const char* symbol, Function& function) {
  void* address = dlsym(library, symbol);
  if (address == nullptr) throw std::runtime_error(std::string(kLibrary) + " has no " + symbol);
  function = reinterpret_cast<Function>(address);
}

Api load() {
  void* library = open_library();
  Api api;
  find(library, "ucp_config_read", api.config_read);
  find(library, "ucp_config_release", api.config_release);
  find(library, "ucp_init_version", api.init_version);
  find(library, "ucp_cleanup", api.cleanup);
  find(library, "ucp_worker_create", api.worker_create);
  find(library, "ucp_worker_destroy", api.worker_destroy);
  find(library, "ucp_worker_query", api.worker_query);
  find(library, "ucp_worker_get_address", api.worker_get_address);
  find(library, "ucp_worker_release_address", api.worker_release_address);
  find(library, "ucp_worker_progress", api.worker_progress);
  find(library, "ucp_ep_create", api.ep_create);
  find(library, "ucp_ep_close_nbx", api.ep_close_nbx);
  find(library, "ucp_ep_flush_nbx", api.ep_flush_nbx);
  find(library, "ucp_tag_send_nbx", api.tag_send_nbx);
  find(library, "ucp_tag_recv_nbx", api.tag_recv_nbx);
  find(library, "ucp_request_cancel", api.request_cancel);
  find(library, "ucp_request_check_status", api.request_check_status);
  find(library, "ucp_request_free", api.request_free);
  find(library, "ucs_status_string", api.status_string);
  return api;
}

std::mutex context_mutex;
std::weak_ptr<Context> context_in_use;

}  // namespace

Context::Context(const Api& api) : api_(api) {
  ucp_config_t* config = nullptr;
  ucs_status_t status = api_.config_read(nullptr, nullptr, &config);
  if (status == UCS_OK) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
    params.features = UCP_FEATURE_TAG;
    params.mt_workers_shared = 1;  // each worker may have a thread of its own
    params.name = "detccl";
    status = api_.init_version(kApiMajor, kApiMinor, &params, config, &handle_);
    api_.config_release(config);
  }
  if (status != UCS_OK)
    throw std::runtime_error(std::string("cannot initialise UCX: ") + api_.status_string(status));
}

Context::~Context() {
  api_.cleanup(handle_);
}

std::shared_ptr<Context> shared_context() {
  const std::lock_guard lock(context_mutex);
  std::shared_ptr<Context> context = context_in_use.lock();
  if (context == nullptr) {
    static const Api api = load();
    context = std::make_shared<Context>(api);
    context_in_use = context;
  }
  return context;
}

}  // namespace detccl::transport::ucx
