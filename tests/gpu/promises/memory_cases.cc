// SPDX-License-Identifier: Apache-2.0
// PreMulSum's factor on host and device; buffers that the user registered.
#include <dlfcn.h>

#include "cases.h"

namespace promises {
namespace {

/// A factor in device memory is read when the reduction runs; the operation may go before the group ends.
void device_scalar(Job& job, Result& result) {
  for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::float64, DataType::int32}) {
    const Reduction r{type, Op::premulsum, 4000};
    const std::size_t count = 3001;
    Vector in(job, r, count, 1), out(job, r, count), factor(job, r, 1);
    in.put(input(r, job.rank(), 0, count));
    const std::uint64_t early = 0, bits = r.scalar();
    job.device().upload(factor.data(), &early, r.size(1), 0);
    ncclRedOp_t op{};
    require(ncclRedOpCreatePreMulSum(&op, factor.data(), nccl(type), ncclScalarDevice, job.comm()),
            "ncclRedOpCreatePreMulSum");
    job.device().upload(factor.data(), &bits, r.size(1), 0);  // later than the creation, before the reduction
    require(ncclGroupStart(), "ncclGroupStart");
    require(ncclAllReduce(in.data(), out.data(), count, nccl(type), op, job.comm(), job.device().stream(0)),
            "ncclAllReduce");
    require(ncclRedOpDestroy(op, job.comm()), "ncclRedOpDestroy");
    require(ncclGroupEnd(), "ncclGroupEnd");
    job.compare(result, r, out.get(), expected(job.contract(), r, job.ranks(), 0, count),
                "device scalar, " + std::string(detccl::contract::name(type)));
  }
}

/// Reductions between two halves of `memory`, which holds 2 * kRegistered bytes.
constexpr std::size_t kRegistered = std::size_t{1} << 20;

void on_memory(Job& job, Result& result, std::byte* memory, const std::string& what) {
  for (const DataType type : {DataType::bfloat16, DataType::float32}) {
    for (const Op op : {Op::sum, Op::avg}) {
      const Reduction r{type, op, 4100};
      const auto ranks = static_cast<std::size_t>(job.ranks());
      const std::size_t shard = kRegistered / r.size(1) / ranks, count = shard * ranks;
      const Bytes in = input(r, job.rank(), 0, count);
      const Bytes wanted = expected(job.contract(), r, job.ranks(), 0, count);
      const auto own = static_cast<std::ptrdiff_t>(r.size(shard * static_cast<std::size_t>(job.rank())));
      const auto length = static_cast<std::ptrdiff_t>(r.size(shard));
      std::byte* const out = memory + kRegistered;
      Device& device = job.device();
      Bytes got(in.size()), part(static_cast<std::size_t>(length));
      const auto ncclop = static_cast<ncclRedOp_t>(op);
      device.upload(memory, in.data(), in.size(), 0);
      require(ncclAllReduce(memory, out, count, nccl(type), ncclop, job.comm(), device.stream(0)),
              "ncclAllReduce");
      device.download(got.data(), out, got.size());
      job.compare(result, r, got, wanted, "all_reduce, " + what);
      require(ncclReduceScatter(memory, out, shard, nccl(type), ncclop, job.comm(), device.stream(0)),
              "ncclReduceScatter");
      device.download(part.data(), out, part.size());
      job.compare(result, r, part, Bytes(wanted.begin() + own, wanted.begin() + own + length),
                  "reduce_scatter, " + what);
      require(ncclAllReduce(memory, memory, count, nccl(type), ncclop, job.comm(), device.stream(0)),
              "ncclAllReduce");
      device.download(got.data(), memory, got.size());
      job.compare(result, r, got, wanted, "all_reduce in place, " + what);
    }
  }
}

std::byte* allocate() {
  void* memory = nullptr;
  require(ncclMemAlloc(&memory, 2 * kRegistered), "ncclMemAlloc");
  return static_cast<std::byte*>(memory);
}

void registered_buffer(Job& job, Result& result) {
  std::byte* const memory = allocate();
  void* handle = nullptr;
  require(ncclCommRegister(job.comm(), memory, 2 * kRegistered, &handle), "ncclCommRegister");
  on_memory(job, result, memory, "registered");
  require(ncclCommDeregister(job.comm(), handle), "ncclCommDeregister");
  on_memory(job, result, memory, "no longer registered");
  require(ncclMemFree(memory), "ncclMemFree");
}

void symmetric_window(Job& job, Result& result) {
  // Looked up, so that the program starts with a library that has no windows.
  const auto add =
      reinterpret_cast<decltype(&ncclCommWindowRegister)>(dlsym(RTLD_DEFAULT, "ncclCommWindowRegister"));
  const auto remove =
      reinterpret_cast<decltype(&ncclCommWindowDeregister)>(dlsym(RTLD_DEFAULT, "ncclCommWindowDeregister"));
  if (add == nullptr || remove == nullptr) {
    result.skipped = "this NCCL has no windows";
    return;
  }
  std::byte* const memory = allocate();
  ncclWindow_t window = nullptr;
  const ncclResult_t added = add(job.comm(), memory, 2 * kRegistered, &window, NCCL_WIN_COLL_SYMMETRIC);
  result.figures["window_code"] = added;
  result.figures["window"] = window != nullptr;
  if (added == ncclInvalidUsage || added == ncclInvalidArgument) {
    result.skipped = "symmetric windows are not to be had here";
  } else {
    require(added, "ncclCommWindowRegister");
    on_memory(job, result, memory, window != nullptr ? "symmetric window" : "window not granted");
    if (window != nullptr) require(remove(job.comm(), window), "ncclCommWindowDeregister");
  }
  require(ncclMemFree(memory), "ncclMemFree");
}

}  // namespace

void add_memory_cases(Cases& cases) {
  cases.push_back({"scalar.device", device_scalar});
  cases.push_back({"registered.buffer", registered_buffer});
  cases.push_back({"registered.window", symmetric_window});
}

}  // namespace promises
