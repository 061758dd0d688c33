// SPDX-License-Identifier: Apache-2.0
#include "transport/nccl/nccl_exchange.h"

namespace detccl::transport {
namespace {

[[noreturn]] void fail(const NcclFunctions& functions, ncclResult_t result, const char* what) {
  throw NcclError(result, std::string(what) + ": " + functions.get_error_string(result));
}

}  // namespace

NcclExchange::~NcclExchange() {
  abort();
}

void NcclExchange::check(ncclResult_t result, const char* what) const {
  if (result != ncclSuccess) fail(functions_, result, what);
}

ncclComm_t NcclExchange::live() const {
  const ncclComm_t communicator = communicator_;
  if (communicator == nullptr) throw NcclError(ncclInvalidUsage, "the communicator has been aborted");
  return communicator;
}

void NcclExchange::send(std::uint32_t peer, const void* data, std::size_t bytes, cudaStream_t stream) {
  check(functions_.send(data, bytes, ncclUint8, static_cast<int>(peer), live(), stream), "ncclSend");
}

void NcclExchange::receive(std::uint32_t peer, void* data, std::size_t bytes, cudaStream_t stream) {
  check(functions_.receive(data, bytes, ncclUint8, static_cast<int>(peer), live(), stream), "ncclRecv");
}

void NcclExchange::all_gather(const void* from, void* to, std::size_t bytes, cudaStream_t stream) {
  check(functions_.all_gather(from, to, bytes, ncclUint8, live(), stream), "ncclAllGather");
}

ncclResult_t NcclExchange::destroy() {
  const ncclComm_t communicator = communicator_.exchange(nullptr);
  return communicator == nullptr ? ncclSuccess : functions_.destroy(communicator);
}

void NcclExchange::abort() {
  const ncclComm_t communicator = communicator_.exchange(nullptr);
  if (communicator != nullptr) static_cast<void>(functions_.abort(communicator));
}

ncclResult_t NcclExchange::async_error() const {
  const ncclComm_t communicator = communicator_;
  ncclResult_t state = ncclSuccess;
  if (communicator == nullptr) return ncclSuccess;
  const ncclResult_t asked = functions_.get_async_error(communicator, &state);
  return asked != ncclSuccess ? asked : state;
}

NcclGroup::NcclGroup(const NcclFunctions& functions) : functions_(functions) {
  const ncclResult_t result = functions_.group_start();
  if (result != ncclSuccess) fail(functions_, result, "ncclGroupStart");
}

void NcclGroup::end() {
  open_ = false;
  const ncclResult_t result = functions_.group_end();
  if (result != ncclSuccess) fail(functions_, result, "ncclGroupEnd");
}

NcclGroup::~NcclGroup() {
  if (open_) static_cast<void>(functions_.group_end());
}

}  // namespace detccl::transport
