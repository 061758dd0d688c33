// SPDX-License-Identifier: Apache-2.0
#include "transport/ucx/ucx_exchange.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

#include "transport/ucx/ucx_worker.h"

namespace detccl::transport {

class UcxExchange;

namespace {

using Done = Completion::State;

constexpr std::uint64_t kTagMask = (std::uint64_t{1} << 48) - 1;

/// Less than this UCX sends at once: below every threshold of its for rendezvous.
constexpr std::size_t kFetchedBytes = 4096;

/// Flushes that have to find nothing to wait for. One is not enough: it passes when there is room for what
/// waits to leave, which leaves at the next progress, unless others have taken the room by then.
constexpr int kSettlingRounds = 3;

/// A flush may also wait for the peer: over TCP a new endpoint is not complete before both sides have spoken.
/// A peer that has turned to something else does not answer, and does not need what is waited for; if it is
/// waiting in a call of its own for this rank to come, nobody would ever move.
constexpr std::chrono::milliseconds kSettlingLimit{200};

/// How long a destructor waits for data on their way to peers that may have died.
constexpr std::chrono::seconds kFlushLimit{2};

std::uint64_t wire_tag(std::uint32_t source, std::uint64_t tag) {
  return std::uint64_t{source} << 48 | (tag & kTagMask);
}

/// An operation that UCX has under way. It belongs to the exchange, so that abandon() can part it from its
/// completion while UCX still holds on to it.
struct Record {
  UcxExchange* exchange = nullptr;
  Completion* completion = nullptr;  ///< null: free
  void* request = nullptr;
  std::size_t bytes = 0;
  std::uint32_t peer = 0;
  bool is_receive = false;
};

struct Peer {
  UcxExchange* exchange = nullptr;
  ucp_ep_h endpoint = nullptr;  ///< made at first use
  ucs_status_t error = UCS_OK;  ///< once it is set, the endpoint is of no use
};

/// What UCX may still refer to after an exchange that failed is gone.
struct Parked {
  std::unique_ptr<UcxWorker> worker;
  std::vector<Peer> peers;
  std::deque<Record> records;
};
std::mutex parked_mutex;
auto* const parked = new std::vector<std::unique_ptr<Parked>>;  // never destroyed

}  // namespace

/// Thread rule: as Exchange. UCX calls back only from progress(), send() and receive().
class UcxExchange final : public Exchange {
 public:
  UcxExchange(std::unique_ptr<UcxWorker> worker, std::uint32_t rank, std::vector<std::string> addresses)
      : worker_(std::move(worker)),
        api_(worker_->state_->context->api()),
        handle_(worker_->state_->worker),
        rank_(rank),
        addresses_(std::move(addresses)),
        peers_(addresses_.size()) {}
  ~UcxExchange() override;
  UcxExchange(const UcxExchange&) = delete;
  UcxExchange& operator=(const UcxExchange&) = delete;

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(addresses_.size()); }
  void send(std::uint32_t peer, std::uint64_t tag, const void* data, std::size_t bytes,
            Completion& completion) override;
  void receive(std::uint32_t peer, std::uint64_t tag, void* data, std::size_t bytes,
               Completion& completion) override;
  bool progress() override { return !abandoned_ && api_.worker_progress(handle_) != 0; }
  bool settled() override;
  void abandon() override;
  std::string failure() const override { return failure_; }

 private:
  Record& take_record(std::uint32_t peer, std::size_t bytes, bool is_receive, Completion& completion);
  void finish(Record& record, ucs_status_t status, std::size_t length);
  Peer& connected(std::uint32_t rank);
  bool flushing();
  bool flush();

  static void on_error(void* user_data, ucp_ep_h, ucs_status_t status);
  static void on_sent(void* request, ucs_status_t status, void* user_data);
  static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                          void* user_data);

  std::unique_ptr<UcxWorker> worker_;
  const ucx::Api& api_;
  ucp_worker_h handle_;
  std::uint32_t rank_;
  std::vector<std::string> addresses_;
  std::vector<Peer> peers_;
  std::deque<Record> records_;
  std::vector<Record*> free_;
  std::vector<void*> flushes_;  ///< requests
  int settling_round_ = 0;
  bool settling_ = false;
  std::chrono::steady_clock::time_point settling_until_;
  std::string failure_;
  bool abandoned_ = false;
};

Record& UcxExchange::take_record(std::uint32_t peer, std::size_t bytes, bool is_receive,
                                 Completion& completion) {
  if (free_.empty()) {
    records_.emplace_back();
    free_.push_back(&records_.back());
  }
  Record& record = *free_.back();
  free_.pop_back();
  record = {this, &completion, nullptr, bytes, peer, is_receive};
  completion.state.store(Done::pending, std::memory_order_relaxed);
  return record;
}

void UcxExchange::finish(Record& record, ucs_status_t status, std::size_t length) {
  const bool complete = status == UCS_OK && length == record.bytes;
  if (!complete && failure_.empty()) {
    failure_ = std::string(record.is_receive ? "receive from rank " : "send to rank ") +
               std::to_string(record.peer) + ": " +
               (status != UCS_OK
                    ? std::string(api_.status_string(status))
                    : std::to_string(length) + " bytes came instead of " + std::to_string(record.bytes));
  }
  Completion& completion = *record.completion;
  record.completion = nullptr;
  free_.push_back(&record);
  completion.state.store(complete ? Done::done : Done::failed, std::memory_order_release);
}

void UcxExchange::on_sent(void* request, ucs_status_t status, void* user_data) {
  Record& record = *static_cast<Record*>(user_data);
  const ucx::Api& api = record.exchange->api_;
  if (record.completion != nullptr) record.exchange->finish(record, status, record.bytes);
  api.request_free(request);
}

void UcxExchange::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                              void* user_data) {
  Record& record = *static_cast<Record*>(user_data);
  const ucx::Api& api = record.exchange->api_;
  if (record.completion != nullptr)
    record.exchange->finish(record, status, status == UCS_OK ? info->length : 0);
  api.request_free(request);
}

Peer& UcxExchange::connected(std::uint32_t rank) {
  Peer& peer = peers_[rank];
  if (peer.endpoint == nullptr && peer.error == UCS_OK) {
    // No peer error handling: UCX 1.13 gives up shared memory for it, and with it most of the bandwidth
    // within a node. The handler is needed all the same: an error that no handler takes, such as reading the
    // memory of a process that has died, aborts this process.
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(addresses_[rank].data());
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler = {on_error, &peer};
    peer.exchange = this;
    peer.error = api_.ep_create(handle_, &params, &peer.endpoint);
    if (peer.error != UCS_OK) peer.endpoint = nullptr;
  }
  return peer;
}

/// A peer that has nothing under way with this rank may leave when it likes.
void UcxExchange::on_error(void* user_data, ucp_ep_h, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(user_data);
  UcxExchange& exchange = *peer.exchange;
  peer.error = status;
  const auto rank = static_cast<std::uint32_t>(&peer - exchange.peers_.data());
  for (const Record& record : exchange.records_) {
    if (record.completion == nullptr || record.peer != rank || !exchange.failure_.empty()) continue;
    exchange.failure_ = "rank " + std::to_string(rank) + ": " + exchange.api_.status_string(status);
  }
}

void UcxExchange::send(std::uint32_t peer, std::uint64_t tag, const void* data, std::size_t bytes,
                       Completion& completion) {
  Record& record = take_record(peer, bytes, false, completion);
  const Peer& target = connected(peer);
  if (target.error != UCS_OK) return finish(record, target.error, 0);
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.cb.send = on_sent;
  param.user_data = &record;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  const ucs_status_ptr_t result =
      api_.tag_send_nbx(target.endpoint, data, bytes, wire_tag(rank_, tag), &param);
  if (UCS_PTR_IS_PTR(result)) {
    record.request = result;
  } else {
    finish(record, UCS_PTR_RAW_STATUS(result), bytes);
  }
}

void UcxExchange::receive(std::uint32_t peer, std::uint64_t tag, void* data, std::size_t bytes,
                          Completion& completion) {
  Record& record = take_record(peer, bytes, true, completion);
  // Large data are fetched from the sender, which may fail: that takes an endpoint, for its error handler.
  if (bytes >= kFetchedBytes) connected(peer);
  ucp_request_param_t param{};
  // No immediate completion: the callback, run before the call returns, is what tells how much has come.
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                       UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = on_received;
  param.user_data = &record;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  const ucs_status_ptr_t result =
      api_.tag_recv_nbx(handle_, data, bytes, wire_tag(peer, tag), ~std::uint64_t{0}, &param);
  if (UCS_PTR_IS_ERR(result)) return finish(record, UCS_PTR_STATUS(result), 0);
  record.request = result;
}

/// Whether flushes are under way.
bool UcxExchange::flushing() {
  std::erase_if(flushes_, [this](void* request) {
    if (api_.request_check_status(request) == UCS_INPROGRESS) return false;
    api_.request_free(request);
    return true;
  });
  return !flushes_.empty();
}

bool UcxExchange::settled() {
  if (abandoned_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!settling_) settling_until_ = now + kSettlingLimit;
  settling_ = now < settling_until_;
  if (!settling_) {
    settling_round_ = 0;
    return true;
  }
  const ucp_request_param_t param{};
  while (!flushing()) {
    if (settling_round_ == kSettlingRounds) {
      settling_ = false;
      settling_round_ = 0;
      return true;
    }
    if (settling_round_ > 0) progress();
    ++settling_round_;
    for (const Peer& peer : peers_) {
      if (peer.endpoint == nullptr || peer.error != UCS_OK) continue;
      void* request = api_.ep_flush_nbx(peer.endpoint, &param);
      if (UCS_PTR_IS_PTR(request)) flushes_.push_back(request);
    }
  }
  return false;
}

void UcxExchange::abandon() {
  if (abandoned_) return;
  abandoned_ = true;
  if (failure_.empty()) failure_ = "abandoned";
  for (Record& record : records_) {
    if (record.completion == nullptr) continue;
    record.completion = nullptr;
    if (record.is_receive) api_.request_cancel(handle_, record.request);
  }
}

std::unique_ptr<Exchange> UcxWorker::connect(std::unique_ptr<UcxWorker> worker, std::uint32_t rank,
                                             std::vector<std::string> addresses) {
  return std::make_unique<UcxExchange>(std::move(worker), rank, std::move(addresses));
}

/// Closes the endpoints, which waits until what was sent has left for the peers. Whether all have been
/// closed.
bool UcxExchange::flush() {
  std::vector<void*> closing;
  const ucp_request_param_t param{};  // no flags: flushes
  for (const Peer& peer : peers_) {
    if (peer.endpoint == nullptr || peer.error != UCS_OK) continue;
    void* request = api_.ep_close_nbx(peer.endpoint, &param);
    if (UCS_PTR_IS_PTR(request)) closing.push_back(request);
  }
  const auto limit = std::chrono::steady_clock::now() + kFlushLimit;
  while (!closing.empty() && std::chrono::steady_clock::now() < limit) {
    api_.worker_progress(handle_);
    std::erase_if(closing, [this](void* request) {
      if (api_.request_check_status(request) == UCS_INPROGRESS) return false;
      api_.request_free(request);
      return true;
    });
  }
  return closing.empty();
}

UcxExchange::~UcxExchange() {
  if (free_.size() != records_.size() || flushing()) abandon();
  if (failure_.empty() && flush()) {
    worker_.reset();  // may still call back: before the rest goes
    return;
  }
  // UCX cannot take down a worker with operations under way and no peer to end them: it would complain about
  // each of them, or worse. Such a worker is left alone, for good.
  const std::lock_guard lock(parked_mutex);
  parked->push_back(
      std::make_unique<Parked>(Parked{std::move(worker_), std::move(peers_), std::move(records_)}));
}

}  // namespace detccl::transport
