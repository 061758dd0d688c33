// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/node_run.h"

#include <algorithm>

#include "engine/cuda/node_group.h"
#include "engine/cuda/part_events.h"

namespace detccl::engine::cuda {
namespace {

bool goes_over_nodes(const StreamEngine& engine, const Reduction& call) {
  return engine.nodes() != nullptr && engine.nodes()->way.takes(call);
}

}  // namespace

struct NodeRun::Call {
  StreamEngine* engine;
  cudaStream_t stream;
  PartEvents* parts;
  CaptureId capture;
  NodeSteps steps;
};

bool NodeRun::any(std::span<const Work> work) {
  return std::any_of(work.begin(), work.end(), [](const Work& one) {
    return std::any_of(one.calls.begin(), one.calls.end(),
                       [&one](const StreamCall& c) { return goes_over_nodes(*one.engine, c.call); });
  });
}

bool NodeRun::takes(const Work& batch) {
  return goes_over_nodes(*batch.engine, batch.calls.front().call);
}

std::vector<Work> NodeRun::cut(const Work& work) {
  std::vector<Work> batches;
  for (const StreamCall& call : work.calls) {
    const bool over_nodes = goes_over_nodes(*work.engine, call.call);
    if (batches.empty() || takes(batches.back()) != over_nodes) {
      batches.push_back(work);
      batches.back().calls.clear();
    }
    batches.back().calls.push_back(call);
  }
  return batches;
}

void NodeRun::begin(Call& call) {
  const OnDevice guard(call.engine->device());
  call.capture = capture_of(call.stream);
  call.engine->order_.before(call.stream, call.capture);
  if (call.parts != nullptr) {
    call.parts->begin(1);
    call.parts->enter(stream::Part::kernel, 0, call.stream);
  }
  NodeGroup& nodes = *call.engine->nodes();
  for (const Reduction& within : call.steps.within)
    nodes.peers->enqueue(within, nodes.rails->tasks_.planner().arithmetic(within), call.stream, nullptr);
  if (call.parts != nullptr) call.parts->enter(stream::Part::rest, 0, call.stream);
}

void NodeRun::collect(std::span<const Call> calls) {
  const auto collects = [](const Call& call) { return call.steps.part_bytes != 0; };
  const auto first = std::find_if(calls.begin(), calls.end(), collects);
  if (first == calls.end()) return;
  transport::NcclGroup group(first->engine->nodes()->exchange->functions());
  for (const Call& call : calls) {
    if (!collects(call)) continue;
    const StreamEngine& engine = *call.engine;
    const NodeGroup& nodes = *engine.nodes();
    const OnDevice guard(engine.device());
    all_gather(*nodes.exchange, engine.rank_ % nodes.way.size, nodes.way.size, engine.gathers_,
               call.steps.gathered, call.steps.part_bytes, call.stream);
  }
  group.end();
}

void NodeRun::end(Call& call) {
  const OnDevice guard(call.engine->device());
  if (call.parts != nullptr) call.parts->end(call.stream);
  call.engine->order_.after(call.stream, call.capture);
}

void NodeRun::enqueue(std::span<const Work> work) {
  for (std::size_t i = 0, most = 1; i < most; ++i) {
    std::vector<Call> calls;
    std::vector<Work> between;
    for (const Work& one : work) {
      if (!takes(one)) continue;
      most = std::max(most, one.calls.size());
      if (i >= one.calls.size()) continue;
      const Reduction& reduction = one.calls[i].call;
      const cudaStream_t stream = one.calls[i].stream;
      const NodeGroup& nodes = *one.engine->nodes();
      calls.push_back({one.engine, stream, one.parts, 0, nodes.way.steps(reduction, one.engine->rank_)});
      between.push_back({nodes.rails.get(), {}});
      for (const Reduction& call : calls.back().steps.between)
        between.back().calls.push_back({call, stream, {}});
    }
    if (calls.empty()) return;
    std::for_each(calls.begin(), calls.end(), begin);
    cuda::enqueue(between);
    collect(calls);
    std::for_each(calls.begin(), calls.end(), end);
  }
}

}  // namespace detccl::engine::cuda
