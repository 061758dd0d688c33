// SPDX-License-Identifier: Apache-2.0
#include "communicator.h"

#include <mpi.h>

#include <stdexcept>
#include <thread>

namespace trainer {

Communicator::Communicator(Device& device, int rank, int ranks)
    : device_(device), rank_(rank), ranks_(ranks) {
  ncclUniqueId id{};
  ncclResult_t result = ncclSuccess;
  if (rank == 0) result = ncclGetUniqueId(&id);
  check(result, "ncclGetUniqueId");
  MPI_Bcast(&id, static_cast<int>(sizeof id), MPI_BYTE, 0, MPI_COMM_WORLD);
  check(ncclCommInitRank(&comm_, ranks, id, rank), "ncclCommInitRank");
}

Communicator::~Communicator() {
  if (comm_ != nullptr) ncclCommAbort(comm_);
}

void Communicator::all_reduce(void* buffer, std::size_t count, ncclDataType_t type, ncclRedOp_t op) {
  check(ncclAllReduce(buffer, buffer, count, type, op, comm_, device_.stream()), "ncclAllReduce");
}

void Communicator::reduce_scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                                  ncclRedOp_t op) {
  check(ncclReduceScatter(send, receive, count, type, op, comm_, device_.stream()), "ncclReduceScatter");
}

void Communicator::all_gather(const void* send, void* receive, std::size_t count, ncclDataType_t type) {
  check(ncclAllGather(send, receive, count, type, comm_, device_.stream()), "ncclAllGather");
}

void Communicator::broadcast(void* buffer, std::size_t count, ncclDataType_t type, int root) {
  check(ncclBroadcast(buffer, buffer, count, type, root, comm_, device_.stream()), "ncclBroadcast");
}

void Communicator::group_start() {
  check(ncclGroupStart(), "ncclGroupStart");
}

void Communicator::group_end() {
  check(ncclGroupEnd(), "ncclGroupEnd");
}

void Communicator::wait() {
  bool idle = false;
  while (!idle) {
    idle = device_.idle();
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
    check(state, "a collective under way");
    if (!idle) std::this_thread::yield();
  }
}

void Communicator::finish() {
  const ncclResult_t result = ncclCommDestroy(comm_);
  comm_ = nullptr;
  check(result, "ncclCommDestroy");
}

void Communicator::check(ncclResult_t result, const char* call) const {
  if (result == ncclSuccess) return;
  std::string message = std::string(call) + ": " + ncclGetErrorString(result);
  const char* detail = ncclGetLastError(comm_);
  if (detail != nullptr && *detail != '\0') message += std::string(" (") + detail + ")";
  throw std::runtime_error(message);
}

std::string nccl_version() {
  int code = 0;
  if (ncclGetVersion(&code) != ncclSuccess) return "unknown";
  return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

}  // namespace trainer
