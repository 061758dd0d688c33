// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/sampler.h"

#include <cstdlib>

#include "contract/types.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api::gpu {
namespace {

using engine::cuda::check;
using engine::cuda::nanoseconds_between;
using engine::cuda::tolerate;

bool is_set(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0';
}

/// What a rank knows to be in the way before it has asked the others.
const char* own_obstacle() {
  if (observer() == nullptr) return "nobody listens";
  // They may leave a collective without any way to run natively, which DetCCL does not need.
  if (is_set("NCCL_ALGO") || is_set("NCCL_PROTO")) return "NCCL_ALGO or NCCL_PROTO";
  return nullptr;
}

}  // namespace

Sampler::Sampler(const Configuration& configuration) : choice_(configuration), obstacle_(own_obstacle()) {
  if (obstacle_ != nullptr) return;
  try {
    memory_ = std::make_unique<engine::cuda::Memory>(kMostSampledBytes);
  } catch (const engine::cuda::CudaError&) {
    obstacle_ = "memory";
  }
}

Sampler::~Sampler() {
  collect();
  for (const Pair& pair : pairs_) {
    for (const cudaEvent_t event : pair.events) {
      if (event != nullptr) tolerate(cudaEventDestroy(event));
    }
  }
}

void Sampler::begin(std::span<const Hello> hellos, engine::cuda::StreamEngine& engine, Teller& teller) {
  engine_ = &engine;
  teller_ = &teller;
  const char* const all = find_sampling_obstacle(hellos);
  if (obstacle_ == nullptr) obstacle_ = all;
  if (all == nullptr) warm_up(static_cast<std::uint32_t>(hellos.size()));
}

/// The first native call of a kind connects the ranks, and a thread waits in it for the others: here all are
/// together.
void Sampler::warm_up(std::uint32_t ranks) {
  using plan::Collective;
  engine::cuda::SideStreams streams;
  const cudaStream_t stream = streams.get(0);
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::reduce}) {
    for (std::uint64_t bytes = 4096; bytes <= kMostSampledBytes / 2; bytes *= 8) {
      engine::Reduction call;
      call.collective = collective;
      call.send = memory_->data();
      call.count = bytes / sizeof(float) / (collective == Collective::reduce_scatter ? ranks : 1);
      if (call.count == 0) continue;
      reduce_natively(call, memory_->data() + kMostSampledBytes / 2, stream);
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // as in StreamEngine::warm_up()
    }
  }
}

Sample Sampler::due(const QueuedReduction& reduction) {
  collect();
  const Sample sample = choice_.due(reduction.call);
  if (sample == Sample::no) return sample;
  profile::Operation more;
  more.reason = reason_against(reduction);
  if (more.reason == nullptr) return sample;
  teller_->tell(reduction.call, profile::Moment::not_paired, 0, more);
  return Sample::no;
}

/// What all ranks come to, as NCCL wants a call captured on all of them or none.
const char* Sampler::reason_against(const QueuedReduction& reduction) const {
  using contract::DataType;
  const engine::Reduction& call = reduction.call;
  if (obstacle_ != nullptr) return obstacle_;
  if (call.op == contract::Op::premulsum) return "scaled";  // its factor is another communicator's
  if (call.type == DataType::float8e4m3 || call.type == DataType::float8e5m2)
    return "type";  // not on every GPU
  if (call.count * contract::size_of(call.type) > kMostSampledBytes) return "memory";
  const engine::cuda::OnDevice guard(engine_->device());
  return engine::cuda::capture_of(reduction.stream) != 0 ? "captured" : nullptr;
}

void Sampler::run(const QueuedReduction& reduction, Sample sample, const std::function<void()>& ours) {
  const engine::cuda::OnDevice guard(engine_->device());
  const cudaStream_t stream = reduction.stream;
  Pair* const pair = next_pair();  // without one it runs all the same, for the others wait for it
  bool timed = pair != nullptr;
  const auto note = [&](Time time) {
    timed = timed && tolerate(cudaEventRecord(pair->events[time], stream));
  };
  engine_->order().before(stream, 0);
  // A native run first that does not count: while it runs, the host gets ahead, and what it leaves in caches
  // is what the native one that counts leaves to a call of ours, and ours to that one. In place the native
  // one then reads our result, which takes it as long.
  reduce_natively(reduction.call, memory_->data(), stream);
  wait_for_ranks(stream);
  note(ours_began);
  ours();
  note(ours_ended);
  wait_for_ranks(stream);
  note(native_began);
  reduce_natively(reduction.call, memory_->data(), stream);
  note(native_ended);
  engine_->order().after(stream, 0);
  if (!timed) return;
  pair->call = reduction.call;
  pair->sample = sample;
  ++under_way_;
}

void Sampler::reduce_natively(const engine::Reduction& c, void* result, cudaStream_t stream) {
  const ncclComm_t communicator = engine_->exchange()->communicator();
  const auto type = static_cast<ncclDataType_t>(c.type);
  const auto op = static_cast<ncclRedOp_t>(c.op);
  ncclResult_t answer = ncclSuccess;
  switch (c.collective) {
    case plan::Collective::all_reduce:
      answer = real().AllReduce(c.send, result, c.count, type, op, communicator, stream);
      break;
    case plan::Collective::reduce_scatter:
      answer = real().ReduceScatter(c.send, result, c.count, type, op, communicator, stream);
      break;
    case plan::Collective::reduce:
      answer =
          real().Reduce(c.send, result, c.count, type, op, static_cast<int>(c.root), communicator, stream);
      break;
  }
  if (answer != ncclSuccess) throw transport::NcclError(answer, "a native sample failed");
}

/// On the GPU: what comes next on the stream begins on all ranks at about the same time.
void Sampler::wait_for_ranks(cudaStream_t stream) {
  engine::Reduction smallest;
  smallest.type = contract::DataType::int32;
  smallest.send = memory_->data();
  smallest.count = 1;
  reduce_natively(smallest, memory_->data(), stream);
}

Sampler::Pair* Sampler::next_pair() {
  if (under_way_ == pairs_.size()) return nullptr;
  Pair& pair = pairs_[(first_ + under_way_) % pairs_.size()];
  const engine::cuda::OutsideCapture outside;
  for (cudaEvent_t& event : pair.events) {
    if (event == nullptr && !tolerate(cudaEventCreate(&event))) return nullptr;
  }
  return &pair;
}

/// They end in the order in which they began.
void Sampler::collect() {
  if (under_way_ == 0) return;
  const engine::cuda::OutsideCapture outside;
  while (under_way_ != 0) {
    const Pair& pair = pairs_[first_];
    if (!tolerate(cudaEventQuery(pair.events[native_ended])) ||
        !tolerate(cudaEventQuery(pair.events[ours_ended])))
      return;
    tell(pair);
    first_ = (first_ + 1) % pairs_.size();
    --under_way_;
  }
}

void Sampler::tell(const Pair& pair) {
  profile::Operation more;
  more.native = nanoseconds_between(pair.events[native_began], pair.events[native_ended]);
  const std::uint64_t ours = nanoseconds_between(pair.events[ours_began], pair.events[ours_ended]);
  if (ours == 0 || more.native == 0) return;
  teller_->tell(pair.call,
                pair.sample == Sample::shadow ? profile::Moment::paired : profile::Moment::calibrated, ours,
                more);
}

}  // namespace detccl::nccl_api::gpu
