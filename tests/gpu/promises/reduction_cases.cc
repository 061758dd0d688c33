// SPDX-License-Identifier: Apache-2.0
// Every type and operation, by all three reductions, in place and not, at addresses of any alignment.
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

void small(Job& job, Result& result, DataType type, Op op) {
  std::uint64_t seed = 1000 + static_cast<std::uint64_t>(type) * 16 + static_cast<std::uint64_t>(op);
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
}

}  // namespace promises
