// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <vector>

#include "nccl_api/communicator.h"
#include "nccl_api/connect.h"
#include "nccl_api/gpu/gpu_border.h"
#include "nccl_api/gpu/shadow.h"
#include "nccl_api/runtime.h"
#include "profile/range.h"

namespace detccl::nccl_api::gpu {
namespace {

/// Holds the communicators that take part, each once.
class Entered {
 public:
  ~Entered() {
    for (Communicator* communicator : communicators_)
      communicator->leave();
  }
  Entered() = default;
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  ncclResult_t add(Communicator& communicator) {
    if (contains(communicator)) return ncclSuccess;
    if (!communicator.enter())
      return fail(ncclInvalidUsage, communicator.name() + ": another thread is using the communicator");
    communicators_.push_back(&communicator);
    return ncclSuccess;
  }
  bool contains(const Communicator& communicator) const {
    return std::count(communicators_.begin(), communicators_.end(), &communicator) > 0;
  }
  const std::vector<Communicator*>& all() const { return communicators_; }

 private:
  std::vector<Communicator*> communicators_;
};

/// The communicator's shadow, kept from being freed while it is at work.
struct Participant {
  Communicator* communicator = nullptr;
  std::shared_ptr<GpuShadow> shadow;
};

ncclResult_t connect_first(const std::vector<Communicator*>& communicators,
                           std::vector<Participant>& participants) {
  std::vector<Communicator*> unconnected;
  std::copy_if(communicators.begin(), communicators.end(), std::back_inserter(unconnected),
               [](const Communicator* communicator) { return communicator->gpu() == nullptr; });
  const ncclResult_t result = connect_entered(unconnected);
  if (result != ncclSuccess) return result;
  for (Communicator* communicator : communicators) {
    participants.push_back({communicator, communicator->gpu()});
    if (participants.back().shadow == nullptr)
      return fail(ncclInvalidUsage, communicator->name() + ": the communicator has been stopped");
  }
  return ncclSuccess;
}

engine::cuda::StreamCall stream_call(const QueuedReduction& reduction) {
  engine::cuda::StreamCall call{reduction.call, reduction.stream, reduction.recording};
  call.call.scalar_memory = reduction.scalar_memory;
  return call;
}

/// `participants`: those of the queue. `timed`: whether they may be measured.
void put_on_streams(std::span<const Queued> queue, const std::vector<Participant>& participants,
                    bool timed = true) {
  std::vector<engine::cuda::Work> work;
  for (const Participant& participant : participants) {
    work.push_back({&static_cast<Shadow&>(*participant.shadow).engine(), {}});
    for (const auto& [communicator, reduction] : queue) {
      if (communicator.get() == participant.communicator) work.back().calls.push_back(stream_call(reduction));
    }
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    Stopwatch& stopwatch = static_cast<Shadow&>(*participants[i].shadow).stopwatch();
    stopwatch.before(work[i].calls, timed);
    work[i].parts = stopwatch.parts();
  }
  {
    const profile::Range range("enqueue");  // of the host's time; the GPU's is the kernels' own
    engine::cuda::enqueue(work);
  }
  for (const Participant& participant : participants)
    static_cast<Shadow&>(*participant.shadow).stopwatch().after();
}

/// Those of `all` that have reductions in `part`, which is not empty.
std::vector<Participant> participants_in(std::span<const Queued> part, const std::vector<Participant>& all) {
  std::vector<Participant> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [&](const Participant& p) {
    return std::any_of(part.begin(), part.end(),
                       [&](const Queued& queued) { return queued.first.get() == p.communicator; });
  });
  return some;
}

/// A reduction that is sampled goes by itself, after those before it and before those after it. All ranks
/// come to the same ones, however they group them: a group is cut there.
void put_in_parts(std::span<const Queued> queue, const std::vector<Participant>& participants) {
  const auto put = [&](std::span<const Queued> part) {
    if (!part.empty()) put_on_streams(part, participants_in(part, participants));
  };
  std::size_t first = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto its = participants_in(queue.subspan(i, 1), participants);
    Sampler* const sampler = static_cast<Shadow&>(*its.front().shadow).sampler();
    const Sample sample = sampler == nullptr ? Sample::no : sampler->due(queue[i].second);
    if (sample == Sample::no) continue;
    put(queue.subspan(first, i - first));
    sampler->run(queue[i].second, sample, [&] { put_on_streams(queue.subspan(i, 1), its, false); });
    first = i + 1;
  }
  put(queue.subspan(first));
}

}  // namespace

ncclResult_t enqueue(std::span<const Queued> queue) {
  return gpu_guarded([queue] {
    Entered entered;
    for (const auto& [communicator, reduction] : queue) {
      const ncclResult_t result = entered.add(*communicator);
      if (result != ncclSuccess) return result;
    }
    std::vector<Participant> participants;
    ncclResult_t result = connect_first(entered.all(), participants);
    if (result == ncclSuccess) {
      result = gpu_guarded([&] {
        if (samples(runtime().environment.configuration()))
          put_in_parts(queue, participants);
        else
          put_on_streams(queue, participants);
        return ncclSuccess;
      });
    }
    if (result == ncclSuccess) return result;
    // Ranks may have got different numbers of reductions under way.
    for (Communicator* communicator : entered.all()) {
      if (communicator->stopped() == ncclSuccess) communicator->set_error(result);
    }
    return result;
  });
}

}  // namespace detccl::nccl_api::gpu
