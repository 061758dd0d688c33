// SPDX-License-Identifier: Apache-2.0
// One message, and the same data in pieces, as one fused bucket of gradients and several small ones.
#include "cases.h"

namespace promises {
namespace {

constexpr std::size_t kCount = (std::size_t{1} << 20) + 7;

void all_reduce(Job& job, const Reduction& r, const Vector& from, const Vector& to, std::size_t first,
                std::size_t count) {
  require(ncclAllReduce(from.at(first), to.at(first), count, nccl(r.type), ncclSum, job.comm(),
                        job.device().stream(0)),
          "ncclAllReduce");
}

/// `native_differs`, natively: of so many elements so many have other bits than in the fused message.
void pieces(Job& job, Result& result, DataType type) {
  const Reduction r{type, Op::sum, 3000};
  const Bytes wanted = expected(job.contract(), r, job.ranks(), 0, kCount);
  Vector in(job, r, kCount), fused(job, r, kCount), cut(job, r, kCount);
  in.put(input(r, job.rank(), 0, kCount));
  all_reduce(job, r, in, fused, 0, kCount);
  const Bytes whole = fused.get();
  job.compare(result, r, whole, wanted, "fused");
  for (const std::size_t piece : {kCount / 2 + 1, std::size_t{99991}, std::size_t{32768}}) {
    for (std::size_t first = 0; first < kCount; first += piece)
      all_reduce(job, r, in, cut, first, std::min(piece, kCount - first));
    const Bytes parts = cut.get();
    job.compare(result, r, parts, wanted, "in pieces of " + std::to_string(piece));
    const auto share = static_cast<double>(differing(r, whole, parts)) / static_cast<double>(kCount);
    result.figures["differ_from_fused_" + std::to_string(piece)] = share;
    if (!job.native()) result.expect(share == 0, "pieces of " + std::to_string(piece) + " equal the whole");
  }
}

/// AllReduce against ReduceScatter and against Reduce, share of elements that differ.
void collectives(Job& job, Result& result, DataType type) {
  const auto ranks = static_cast<std::size_t>(job.ranks());
  const Reduction r{type, Op::sum, 3001};
  const std::size_t shard = kCount / ranks, count = shard * ranks;
  const auto own = shard * static_cast<std::size_t>(job.rank());
  Vector in(job, r, count), all(job, r, count), part(job, r, shard), reduced(job, r, count);
  in.put(input(r, job.rank(), 0, count));
  all_reduce(job, r, in, all, 0, count);
  const cudaStream_t stream = job.device().stream(0);
  require(ncclReduceScatter(in.data(), part.data(), shard, nccl(type), ncclSum, job.comm(), stream),
          "ncclReduceScatter");
  require(ncclReduce(in.data(), reduced.data(), count, nccl(type), ncclSum, 0, job.comm(), stream),
          "ncclReduce");
  const std::size_t scattered = differing(r, part.get(), all.get(own, shard));
  const std::size_t at_root = job.rank() == 0 ? differing(r, reduced.get(), all.get()) : 0;
  result.figures["reduce_scatter_differs"] = static_cast<double>(scattered) / static_cast<double>(shard);
  result.figures["reduce_differs"] = static_cast<double>(at_root) / static_cast<double>(count);
  if (!job.native()) {
    result.expect(scattered == 0, "reduce_scatter equals all_reduce");
    result.expect(at_root == 0, "reduce equals all_reduce");
  }
  const Bytes bits = all.get();
  result.add_to_digest(bits.data(), bits.size());
}

}  // namespace

void add_piece_cases(Cases& cases) {
  for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::float16}) {
    const std::string name(detccl::contract::name(type));
    cases.push_back({"pieces." + name, [=](Job& job, Result& result) { pieces(job, result, type); }});
    cases.push_back(
        {"collectives." + name, [=](Job& job, Result& result) { collectives(job, result, type); }});
  }
}

}  // namespace promises
