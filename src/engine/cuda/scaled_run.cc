// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/scaled_run.h"

#include <algorithm>

#include "device/cuda/fold.h"

namespace detccl::engine::cuda {
namespace {

void convert(const device::host::Arithmetic& arithmetic, const std::byte* from, plan::Form form,
             std::byte* to, plan::Form result_form, std::uint64_t count, cudaStream_t stream) {
  const device::host::Operand operand{from, form};
  check(device::cuda::fold(arithmetic, {&operand, 1}, to, result_form, count, {}, stream), "a PreMulSum");
}

}  // namespace

bool ScaledRun::any(std::span<const Work> work) {
  return std::any_of(work.begin(), work.end(), [](const Work& one) {
    return std::any_of(one.calls.begin(), one.calls.end(),
                       [&one](const StreamCall& c) { return is_scaled_sum(c.call, one.engine->ranks_); });
  });
}

std::vector<Round> ScaledRun::rounds(const Work& work) {
  const StreamEngine& engine = *work.engine;
  std::vector<Round> rounds;
  for (const StreamCall& call : work.calls) {
    if (!is_scaled_sum(call.call, engine.ranks_)) {
      if (rounds.empty() || rounds.back().piece) rounds.emplace_back();
      rounds.back().calls.push_back(call);
      continue;
    }
    const ScaledSum whole(engine.settings_.contract, call.call, engine.rank_, engine.ranks_, 0,
                          call.call.count);
    const std::uint64_t most =
        std::max<std::uint64_t>(1, engine.reserve_->products.size() / whole.product_size() / whole.shards());
    for (std::uint64_t first = 0; first < call.call.count; first += most) {
      const std::uint64_t count = std::min(most, call.call.count - first);
      rounds.push_back(
          {{call},
           ScaledSum(engine.settings_.contract, call.call, engine.rank_, engine.ranks_, first, count)});
    }
  }
  return rounds;
}

StreamCall ScaledRun::begin(StreamEngine& engine, const Round& round) {
  const OnDevice guard(engine.device());
  const Reduction& call = round.calls.front().call;
  const cudaStream_t stream = round.calls.front().stream;
  // The products' memory is the communicator's: what came before on another stream has done with it.
  engine.order_.before(stream, capture_of(stream));
  std::byte* const products = engine.reserve_->products.data();
  const auto arithmetic = engine.tasks_.planner().arithmetic(call);
  const std::uint64_t count = round.piece->products() / round.piece->shards();
  for (std::uint32_t shard = 0; shard < round.piece->shards(); ++shard) {
    convert(arithmetic, round.piece->input(shard), plan::Form::raw, round.piece->product(products, shard),
            plan::Form::partial, count, stream);
  }
  return {round.piece->sum(products), stream, {}};
}

void ScaledRun::end(StreamEngine& engine, const Round& round) {
  const OnDevice guard(engine.device());
  const Reduction& call = round.calls.front().call;
  const cudaStream_t stream = round.calls.front().stream;
  std::byte* const products = engine.reserve_->products.data();
  const auto arithmetic = engine.tasks_.planner().arithmetic(call);
  const std::uint64_t count = round.piece->products() / round.piece->shards();
  if (round.piece->has_result()) {
    convert(arithmetic, round.piece->result(products), plan::Form::partial, round.piece->output(),
            plan::Form::final, count, stream);
  }
  engine.order_.after(stream, capture_of(stream));
}

}  // namespace detccl::engine::cuda
