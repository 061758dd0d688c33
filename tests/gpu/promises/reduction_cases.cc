// SPDX-License-Identifier: Apache-2.0
// Every type and operation, by all three reductions, in place and not, at addresses of any alignment.
#include <cstring>
#include <set>

#include "cases.h"

namespace promises {
namespace {

/// All reductions of `shard` elements times the ranks.
void all_ways(Job& job, Result& result, const Reduction& r, std::size_t shard, std::size_t shift) {
  const auto ranks = static_cast<std::size_t>(job.ranks());
  const auto own = static_cast<std::size_t>(job.rank()) * shard;
  const std::size_t count = shard * ranks;
  const Operation op(r, job.comm());
  const Bytes in = input(r, job.rank(), 0, count);
  const Bytes wanted = expected(job.contract(), r, job.ranks(), 0, count);
  const Bytes wanted_shard(wanted.begin() + static_cast<std::ptrdiff_t>(r.size(own)),
                           wanted.begin() + static_cast<std::ptrdiff_t>(r.size(own + shard)));
  const std::string where = " of " + std::to_string(count) + " at " + std::to_string(shift);
  Vector send(job, r, count, shift), receive(job, r, count, 2 * shift), part(job, r, shard, shift);
  const cudaStream_t stream = job.device().stream(0);

  send.put(in);
  require(ncclAllReduce(send.data(), receive.data(), count, nccl(r.type), op, job.comm(), stream),
          "ncclAllReduce");
  job.compare(result, r, receive.get(), wanted, "all_reduce" + where);
  require(ncclReduceScatter(send.data(), part.data(), shard, nccl(r.type), op, job.comm(), stream),
          "ncclReduceScatter");
  job.compare(result, r, part.get(), wanted_shard, "reduce_scatter" + where);
  require(ncclAllGather(part.data(), receive.data(), shard, nccl(r.type), job.comm(), stream),
          "ncclAllGather");
  job.compare(result, r, receive.get(), wanted, "reduce_scatter, all_gather" + where);
  for (const int root : std::set{0, job.ranks() / 2, job.ranks() - 1}) {
    const bool is_root = job.rank() == root;
    require(ncclReduce(send.data(), is_root ? receive.data() : nullptr, count, nccl(r.type), op, root,
                       job.comm(), stream),
            "ncclReduce");
    if (is_root) job.compare(result, r, receive.get(), wanted, "reduce" + where);
  }
  result.expect(send.get() == in, "inputs are left alone" + where);

  require(ncclAllReduce(send.data(), send.data(), count, nccl(r.type), op, job.comm(), stream),
          "ncclAllReduce");
  job.compare(result, r, send.get(), wanted, "all_reduce in place" + where);
  send.put(in);
  require(ncclReduceScatter(send.data(), send.at(own), shard, nccl(r.type), op, job.comm(), stream),
          "ncclReduceScatter");
  job.compare(result, r, send.get(own, shard), wanted_shard, "reduce_scatter in place" + where);
  send.put(in);
  const int root = job.ranks() / 2;
  require(ncclReduce(send.data(), send.data(), count, nccl(r.type), op, root, job.comm(), stream),
          "ncclReduce");
  if (job.rank() == root)
    job.compare(result, r, send.get(), wanted, "reduce in place" + where);
  else
    result.expect(send.get() == in, "reduce in place leaves the others' input" + where);
  result.expect(send.guards_intact() && receive.guards_intact() && part.guards_intact(),
                "nothing is written beyond the result" + where);
}

/// Whether a PreMulSum is refused: where blocks round products to a narrower type.
bool is_refused(const Job& job, DataType type, Op op) {
  const Contract& c = job.contract();
  return op == Op::premulsum && !job.native() && job.ranks() > 1 && c.block != 0 &&
         detccl::contract::accumulation_type(type, c.accumulate) != type;
}

void refused(Job& job, Result& result, const Reduction& r) {
  const Operation op(r, job.comm());
  Vector data(job, r, 10);
  result.expect(ncclAllReduce(data.data(), data.data(), 10, nccl(r.type), op, job.comm(),
                              job.device().stream(0)) == ncclInvalidUsage,
                "a PreMulSum under a contract whose blocks round is invalid usage");
}

/// Every rank multiplies its own values, by a factor of its own. Sums are exact.
void factors_of_ranks(Job& job, Result& result) {
  const auto factor = [](int rank) { return rank % 3 + 2; };
  const auto value = [](int rank, std::size_t i) {
    return static_cast<int>(i + static_cast<std::size_t>(rank)) % 4;
  };
  for (const DataType type : {DataType::int32, DataType::uint8, DataType::float16, DataType::float32,
                              DataType::float64, DataType::bfloat16}) {
    const Reduction r{type, Op::premulsum, 4200};
    if (is_refused(job, type, Op::premulsum)) continue;
    const std::size_t shard = 1200001 / static_cast<std::size_t>(job.ranks()), element = r.size(1);
    const std::size_t count = shard * static_cast<std::size_t>(job.ranks());
    Bytes in(r.size(count)), wanted(r.size(count));
    for (std::size_t i = 0; i < count; ++i) {
      int sum = 0;
      for (int rank = 0; rank < job.ranks(); ++rank)
        sum += factor(rank) * value(rank, i);
      const std::uint64_t own = encoded(type, value(job.rank(), i)), all = encoded(type, sum);
      std::memcpy(in.data() + i * element, &own, element);
      std::memcpy(wanted.data() + i * element, &all, element);
    }
    const auto own = static_cast<std::size_t>(job.rank()) * shard;
    const Bytes wanted_shard(wanted.begin() + static_cast<std::ptrdiff_t>(r.size(own)),
                             wanted.begin() + static_cast<std::ptrdiff_t>(r.size(own + shard)));
    std::uint64_t scalar = encoded(type, factor(job.rank()));
    ncclRedOp_t op{};
    require(ncclRedOpCreatePreMulSum(&op, &scalar, nccl(type), ncclScalarHostImmediate, job.comm()),
            "ncclRedOpCreatePreMulSum");
    Vector send(job, r, count, 1), receive(job, r, count), part(job, r, shard, 1);
    const cudaStream_t stream = job.device().stream(0), other = job.device().stream(1);
    const std::string name(detccl::contract::name(type));
    send.put(in);
    job.device().wait();
    require(ncclAllReduce(send.data(), receive.data(), count, nccl(type), op, job.comm(), stream),
            "ncclAllReduce");
    require(ncclReduceScatter(send.data(), part.data(), shard, nccl(type), op, job.comm(), other),
            "ncclReduceScatter");
    job.device().wait();
    job.compare(result, r, receive.get(), wanted, "all_reduce, own factors, " + name);
    job.compare(result, r, part.get(), wanted_shard, "reduce_scatter, own factors, " + name);
    const int root = job.ranks() - 1;
    require(ncclReduce(send.data(), send.data(), count, nccl(type), op, root, job.comm(), stream),
            "ncclReduce");
    job.device().wait();
    job.compare(result, r, send.get(), job.rank() == root ? wanted : in, "reduce, own factors, " + name);
    require(ncclRedOpDestroy(op, job.comm()), "ncclRedOpDestroy");
  }
}

void small(Job& job, Result& result, DataType type, Op op) {
  std::uint64_t seed = 1000 + static_cast<std::uint64_t>(type) * 16 + static_cast<std::uint64_t>(op);
  if (is_refused(job, type, op)) return refused(job, result, {type, op, seed});
  for (const std::size_t shard : {1u, 5u, 127u, 4096u, 8193u})
    all_ways(job, result, {type, op, seed}, shard, shard % 3 == 0 ? 0 : 1);
}

/// A few MB over all ranks: many chunks.
void large(Job& job, Result& result, DataType type) {
  const std::size_t shard =
      (std::size_t{4} << 20) / detccl::contract::size_of(type) / static_cast<std::size_t>(job.ranks());
  all_ways(job, result, {type, Op::sum, 2000}, shard + 3, 1);
}

}  // namespace

void add_reduction_cases(Cases& cases) {
  for (int t = 0; t < detccl::contract::kDataTypes; ++t) {
    const auto type = static_cast<DataType>(t);
    const std::string type_name(detccl::contract::name(type));
    for (int o = 0; o < detccl::contract::kOps; ++o) {
      const auto op = static_cast<Op>(o);
      cases.push_back({"reduce." + type_name + "." + std::string(detccl::contract::name(op)),
                       [=](Job& job, Result& result) { small(job, result, type, op); }});
    }
    cases.push_back({"large." + type_name, [=](Job& job, Result& result) { large(job, result, type); }});
  }
  cases.push_back({"reduce.factors_of_ranks", factors_of_ranks});
}

}  // namespace promises
