// SPDX-License-Identifier: Apache-2.0
// ncclAllReduce, ncclReduceScatter and ncclReduce, deterministic.
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "contract/order_free.h"
#include "engine/scaled_sum.h"
#include "nccl_api/border.h"
#include "nccl_api/creation.h"
#include "nccl_api/native_call.h"
#include "nccl_api/run.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

/// A call's arguments.
struct Call {
  plan::Collective collective;
  const void* send;
  void* receive;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
  ncclComm_t handle;
  cudaStream_t stream;
};

ncclResult_t call_real(const Call& c, std::size_t count) {
  switch (c.collective) {
    case plan::Collective::all_reduce:
      return real().AllReduce(c.send, c.receive, count, c.type, c.op, c.handle, c.stream);
    case plan::Collective::reduce_scatter:
      return real().ReduceScatter(c.send, c.receive, count, c.type, c.op, c.handle, c.stream);
    case plan::Collective::reduce:
      break;
  }
  return real().Reduce(c.send, c.receive, count, c.type, c.op, c.root, c.handle, c.stream);
}

/// What the real library cannot be asked.
ncclResult_t check_buffers(const Call& c, const Communicator& communicator) {
  const bool receives = c.collective != plan::Collective::reduce || c.root == communicator.rank();
  if (c.send == nullptr || (receives && c.receive == nullptr))
    return fail(ncclInvalidArgument, "a buffer is NULL");
  const std::size_t shards =
      c.collective == plan::Collective::reduce_scatter ? static_cast<std::size_t>(communicator.ranks()) : 1;
  const std::size_t element = contract::size_of(static_cast<contract::DataType>(c.type));
  if (c.count > std::numeric_limits<std::ptrdiff_t>::max() / shards / element)
    return fail(ncclInvalidArgument, fmt::format("a count of {} is beyond the address space", c.count));
  return ncclSuccess;
}

ncclResult_t describe(const Call& c, const Communicator& communicator, QueuedReduction& reduction) {
  reduction.stream = c.stream;
  reduction.call = {.collective = c.collective,
                    .type = static_cast<contract::DataType>(c.type),
                    .op = static_cast<contract::Op>(c.op),
                    .send = c.send,
                    .receive = c.receive,
                    .count = c.count,
                    .root = static_cast<std::uint32_t>(c.root)};
  if (c.op < ncclNumOps) return ncclSuccess;
  const auto definition = communicator.find_op(c.op);
  if (!definition) return fail(ncclInvalidArgument, "an operation that DetCCL has not seen created");
  // NCCL looks at this only where there are elements, so its look at the other arguments has not covered it.
  if (definition->type != reduction.call.type)
    return fail(ncclInvalidArgument, "an operation that was created for another type");
  reduction.call.op = contract::Op::premulsum;
  reduction.call.scalar = definition->bits;
  reduction.scalar_memory = definition->memory;
  return ncclSuccess;
}

/// Where a call goes.
enum class Route { ours, native };

/// What cannot be deterministic.
ncclResult_t refuse(Communicator& communicator, std::string_view reason, Route& route) {
  if (!runtime().environment.configuration().fallback_native) {
    return fail(ncclInvalidUsage,
                fmt::format("{}; DETCCL_FALLBACK=native runs such reductions natively, DETCCL_DISABLE=1 all",
                            reason));
  }
  fall_back(communicator, reason);
  route = Route::native;
  return ncclSuccess;
}

/// Two GPUs' sums have the same bits in any order, but over peer memory they are quicker than natively.
bool goes_over_peers(const Communicator& communicator) {
  const auto gpu = communicator.ranks() == 2 ? communicator.gpu() : nullptr;
  return gpu != nullptr && gpu->over_peers();
}

/// Reductions with the same bits in any order are native NCCL's on GPUs.
bool is_native(const Call& c, const Communicator& communicator) {
  if (communicator.native() || runtime().environment.configuration().disable) return true;
  const int type = c.type, op = c.op;
  if (runtime().on_host || op < 0 || op >= ncclNumOps || type < 0 || type >= contract::kDataTypes)
    return false;
  return contract::order_free(static_cast<contract::DataType>(c.type), static_cast<contract::Op>(c.op),
                              static_cast<std::uint32_t>(communicator.ranks())) &&
         !goes_over_peers(communicator);
}

/// Whether the real library cannot find anything wrong with the call, so that it need not be asked, which
/// takes a few microseconds: the usual floats, on a GPU and a communicator without events.
bool is_plain(const Call& c, const Communicator& communicator) {
  const bool usual = c.type == ncclFloat32 || c.type == ncclBfloat16 || c.type == ncclFloat16;
  return usual && (c.op == ncclSum || c.op == ncclAvg) && c.count != 0 && communicator.gpu() != nullptr &&
         communicator.blocking() && c.root >= 0 && c.root < communicator.ranks() &&
         !runtime().checks_pointers;
}

ncclResult_t prepare(const Call& c, Communicator& communicator, QueuedReduction& reduction, Route& route) {
  if (const char* reason = gpu::unavailable(); reason != nullptr && !runtime().on_host)
    return refuse(communicator, fmt::format("{}, and {} works on GPUs", reason, real().library.path()),
                  route);
  if (const ncclResult_t stopped = communicator.stopped(); stopped != ncclSuccess)
    return fail(stopped, communicator.name() + ": the communicator has been stopped");
  if (const ncclResult_t error = communicator.error(); error != ncclSuccess)
    return fail(error, communicator.name() + ": the communicator is in error");
  if (is_native(c, communicator)) route = Route::native;
  if (c.count == 0 || route == Route::native) return ncclSuccess;
  ncclResult_t result = check_buffers(c, communicator);
  if (result == ncclSuccess) result = describe(c, communicator, reduction);
  const contract::Contract& contract = runtime().environment.configuration().contract;
  if (result != ncclSuccess ||
      !engine::is_scaled_sum(reduction.call, static_cast<std::uint32_t>(communicator.ranks())) ||
      engine::can_scale(contract, reduction.call.type))
    return result;
  return refuse(communicator,
                fmt::format("DETCCL_CONTRACT={}: a PreMulSum of {} cannot be where blocks round; a contract "
                            "without / can",
                            contract::to_string(contract), contract::name(reduction.call.type)),
                route);
}

TracedCall traced(const Call& c) {
  constexpr std::array kKinds = {trace::Kind::all_reduce, trace::Kind::reduce_scatter, trace::Kind::reduce};
  const bool rooted = c.collective == plan::Collective::reduce;
  return {kKinds[static_cast<std::size_t>(c.collective)],
          c.send,
          c.receive,
          c.count,
          c.type,
          c.op,
          rooted ? c.root : -1,
          c.stream};
}

/// Whether a reduction may have to run natively as well.
bool sampled() {
  return samples(runtime().environment.configuration());
}

ncclResult_t run_now(const std::shared_ptr<Communicator>& communicator, const Call& c,
                     QueuedReduction reduction) {
  reduction.alone = true;
  const auto run_it = [&] {
    if (!runtime().on_host) {
      const gpu::Queued queued{communicator, reduction};
      return gpu::enqueue({&queued, 1});
    }
    std::vector<std::unique_ptr<Lane>> lanes;
    lanes.push_back(std::make_unique<Lane>(communicator));
    if (sampled())
      reduction.native = [c](void* receive) {
        Call elsewhere = c;
        elsewhere.receive = receive;
        return call_real(elsewhere, c.count);
      };
    lanes.back()->push(reduction);
    return run(lanes);
  };
  Tracing* tracing = runtime().tracing.get();
  if (tracing == nullptr) return run_it();
  auto pending = tracing->before(communicator, traced(c), trace::kOurs, &reduction);
  const ncclResult_t result = run_it();
  if (result == ncclSuccess) tracing->after(std::move(pending));
  return result;
}

ncclResult_t run_natively(const Call& c, const std::shared_ptr<Communicator>& communicator) {
  const TracedCall call = traced(c);
  return native_call(communicator, c.stream, &call, [&c] { return call_real(c, c.count); });
}

ncclResult_t reduce(const Call& c) {
  if (passes_through()) return call_real(c, c.count);
  return guarded([&c] {
    const auto called =
        sampled() ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
    Group& group = Group::current();
    ncclResult_t result = check_environment();
    if (result != ncclSuccess) return group.poison(result);
    std::shared_ptr<Communicator> communicator = runtime().communicators.find(c.handle);
    if (communicator != nullptr && communicator->error() == ncclSuccess && is_native(c, *communicator))
      return run_natively(c, communicator);
    // The real library looks at the arguments in an order and with codes of its own. Without elements that is
    // all it does, and if it finds a mistake, its open group fails.
    if (communicator == nullptr || !is_plain(c, *communicator)) {
      result = call_real(c, 0);
      if (result != ncclSuccess && result != ncclInProgress) return group.note(result);
    }
    QueuedReduction reduction;
    reduction.called = called;
    Route route = Route::ours;
    result = find_or_adopt(c.handle, communicator);
    if (result == ncclSuccess) result = prepare(c, *communicator, reduction, route);
    if (result != ncclSuccess) return group.poison(result);
    if (route == Route::native) return run_natively(c, communicator);
    if (c.count == 0) return ncclSuccess;
    if (!group.open()) return run_now(communicator, c, reduction);
    group.trace(communicator, traced(c), trace::kOurs);
    group.queue(std::move(communicator), reduction);
    return ncclSuccess;
  });
}

}  // namespace
}  // namespace detccl::nccl_api

using detccl::plan::Collective;

extern "C" {

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return detccl::nccl_api::reduce(
      {Collective::all_reduce, sendbuff, recvbuff, count, datatype, op, 0, comm, stream});
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return detccl::nccl_api::reduce(
      {Collective::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op, 0, comm, stream});
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return detccl::nccl_api::reduce(
      {Collective::reduce, sendbuff, recvbuff, count, datatype, op, root, comm, stream});
}

decltype(ncclAllReduce) pncclAllReduce __attribute__((alias("ncclAllReduce")));
decltype(ncclReduceScatter) pncclReduceScatter __attribute__((alias("ncclReduceScatter")));
decltype(ncclReduce) pncclReduce __attribute__((alias("ncclReduce")));
}
