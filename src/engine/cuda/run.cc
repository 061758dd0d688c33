// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/run.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "device/cuda/fold.h"
#include "engine/cuda/node_run.h"
#include "engine/cuda/scaled_run.h"

namespace detccl::engine::cuda {
namespace {

/// Blocks of a fold that runs beside communication: room for its kernels is left.
constexpr std::uint32_t kBlocksBeside = 32;

static_assert(stream::kMaxOperands == device::cuda::kMaxOperands);

}  // namespace

std::vector<stream::Task> Run::tasks_of(const Work& work) const {
  std::vector<stream::Task> tasks;
  for (const StreamCall& call : work.calls)
    work.engine->tasks_.append(call.call, tasks);
  return tasks;
}

Run::Run(const Work& work)
    : engine_(*work.engine),
      first_lane_(work.lane),
      parts_(work.parts),
      batches_(stream::deal(tasks_of(work), engine_.settings_.scratch_limit, engine_.lanes())),
      main_(work.calls.front().stream) {
  if (work.calls.size() == 1) recording_ = work.calls.front().recording;
  for (const StreamCall& call : work.calls) {
    const bool known = call.stream == main_ || std::count(others_.begin(), others_.end(), call.stream) > 0;
    if (!known) others_.push_back(call.stream);
  }
}

void Run::begin() {
  capture_ = capture_of(main_);
  for (const cudaStream_t other : others_) {
    if (capture_of(other) != capture_)
      throw std::invalid_argument("a group's streams are not all in one capture, or all in none");
    engine_.joined_.record(other);
    engine_.joined_.wait(main_);
  }
  engine_.order_.before(main_, capture_);
  if (batch().overlapped()) side_ = engine_.reserve_->side_streams.get(capture_);
  for (std::size_t lane = 1; lane < lanes(); ++lane)
    streams_.push_back(engine_.reserve_->lane_streams.at(lane - 1)->get(capture_));
  if (parts_ != nullptr) parts_->begin(batches_.front().ticks());
}

std::uint32_t Run::ticks() const {
  std::uint32_t most = 0;
  for (const stream::Batch& batch : batches_)
    most = std::max(most, batch.ticks());
  return most;
}

void Run::turn_to(std::uint32_t tick, std::size_t lane) {
  tick_ = tick;
  lane_ = lane;
  batches_[lane].turn_to(tick);
}

std::byte* Run::scratch() const {
  const std::size_t each =
      stream::lane_scratch(engine_.settings_.scratch_limit, static_cast<std::uint32_t>(lanes()));
  return engine_.reserve_->scratch.data() + lane_ * each;
}

transport::NcclExchange& Run::channel() const {
  return *engine_.exchange((first_lane_ + lane_) % engine_.lanes());
}

/// The next lane begins where the first transfers of this one end.
void Run::hand_on() {
  if (tick_ != 0 || lane_ + 1 >= lanes()) return;
  engine_.joined_.record(stream(lane_));
  engine_.joined_.wait(stream(lane_ + 1));
}

/// Folds are in order on their stream, so the last one's event stands for all before.
void Run::wait_for_folds(std::uint32_t tick) {
  std::optional<std::uint32_t>& last = unwaited_ && *unwaited_ <= tick ? unwaited_ : earlier_;
  if (!last || *last > tick) return;
  engine_.folded_[*last % StreamEngine::kFoldEvents].wait(main_);
  if (&last == &unwaited_) unwaited_.reset();
  earlier_.reset();
}

/// The main stream's time alone: of several lanes the first one's, and of folds beside the next transfers
/// what those wait for.
void Run::mark(stream::Part part) {
  if (parts_ != nullptr && lane_ == 0) parts_->enter(part, tick_, main_);
}

void Run::exchange() {
  if (batch().overlapped() && tick_ >= 2) wait_for_folds(tick_ - 2);
  if (parts_ != nullptr && has_transfers()) mark(stream::Part::transfer);
  batch().exchange(scratch(), *this);
}

void Run::fold() {
  if (!batch().has_folds()) return;
  mark(stream::Part::fold);
  if (batch().overlapped()) {
    engine_.exchanged_.record(main_);
    engine_.exchanged_.wait(side_);
  }
  batch().fold(scratch(), *this);
  if (batch().overlapped()) {
    engine_.folded_[tick_ % StreamEngine::kFoldEvents].record(side_);
    earlier_ = unwaited_;
    unwaited_ = tick_;
  }
}

void Run::end() {
  if (unwaited_) wait_for_folds(*unwaited_);
  if (parts_ != nullptr) parts_->end(main_);
  for (const cudaStream_t lane : streams_) {
    engine_.joined_.record(lane);
    engine_.joined_.wait(main_);
  }
  engine_.order_.after(main_, capture_);
  if (others_.empty()) return;
  engine_.joined_.record(main_);
  for (const cudaStream_t other : others_)
    engine_.joined_.wait(other);
}

void Run::send(std::uint32_t peer, const void* data, std::size_t bytes) {
  channel().send(peer, data, bytes, stream(lane_));
}

void Run::receive(std::uint32_t peer, void* data, std::size_t bytes) {
  channel().receive(peer, data, bytes, stream(lane_));
}

void Run::all_gather(const void* from, void* to, std::size_t bytes) {
  channel().all_gather(from, to, bytes, stream(lane_));
}

void Run::fold(const device::host::Arithmetic& arithmetic, std::span<const device::host::Operand> operands,
               void* result, plan::Form form, std::uint64_t count) {
  if (recording_) {
    device::cuda::Digests digests;
    digests.first = engine_.rank_;
    digests.count = 1;
    digests.recording = &*recording_;
    check(device::cuda::fold_and_digest(arithmetic, operands, result, count, digests, stream(lane_)),
          "a fold");
    return;
  }
  const bool beside = batch().overlapped();
  check(device::cuda::fold(arithmetic, operands, result, form, count, {beside ? kBlocksBeside : 0},
                           beside ? side_ : stream(lane_)),
        "a fold");
}

/// The calls of communicators that reduce over peer memory: a kernel each.
class PeerRun {
 public:
  static void enqueue(const Work& work, const StreamCall& call) {
    StreamEngine& engine = *work.engine;
    const OnDevice guard(engine.device());
    const CaptureId capture = capture_of(call.stream);
    engine.order_.before(call.stream, capture);
    if (work.parts != nullptr) {
      work.parts->begin(1);
      work.parts->enter(stream::Part::kernel, 0, call.stream);
    }
    engine.peers_->enqueue(call.call, engine.tasks_.planner().arithmetic(call.call), call.stream,
                           call.recording ? &*call.recording : nullptr);
    if (work.parts != nullptr) work.parts->end(call.stream);
    engine.order_.after(call.stream, capture);
  }
};

namespace {

/// Takes turns among the communicators: one thread may have several ranks of one, whose kernels wait for each
/// other, and streams hold only so many.
void enqueue_on_peers(std::span<const Work> work) {
  for (std::size_t i = 0, most = 1; i < most; ++i) {
    for (const Work& one : work) {
      if (one.engine->peers() == nullptr) continue;
      most = std::max(most, one.calls.size());
      if (i < one.calls.size()) PeerRun::enqueue(one, one.calls[i]);
    }
  }
}

/// Each one's calls go the same way.
void enqueue_alike(std::span<const Work> work) {
  enqueue_on_peers(work);
  NodeRun::enqueue(work);
  std::vector<std::unique_ptr<Run>> runs;
  std::uint32_t ticks = 0;
  std::size_t lanes = 0;
  const transport::NcclFunctions* functions = nullptr;
  for (const Work& one : work) {
    if (one.engine->peers() != nullptr || NodeRun::takes(one)) continue;
    runs.push_back(std::make_unique<Run>(one));
    ticks = std::max(ticks, runs.back()->ticks());
    lanes = std::max(lanes, runs.back()->lanes());
    if (one.engine->exchange() != nullptr) functions = &one.engine->exchange()->functions();
  }
  const auto each = [](const std::vector<Run*>& some, auto&& action) {
    for (Run* run : some) {
      const OnDevice guard(run->device());
      action(*run);
    }
  };
  std::vector<std::vector<Run*>> with(lanes);  // those that have a lane
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (const auto& run : runs)
      if (lane < run->lanes()) with[lane].push_back(run.get());
  if (lanes == 0) return;
  each(with[0], [](Run& run) { run.begin(); });
  for (std::uint32_t tick = 0; tick < ticks; ++tick) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {  // in the same order on every rank
      const std::vector<Run*>& some = with[lane];
      each(some, [=](Run& run) { run.turn_to(tick, lane); });
      if (some.size() == 1 && some.front()->is_one_gather()) {
        each(some, [](Run& run) { run.exchange(); });
      } else if (std::any_of(some.begin(), some.end(), [](const Run* run) { return run->has_transfers(); })) {
        transport::NcclGroup group(*functions);
        each(some, [](Run& run) { run.exchange(); });
        group.end();
      }
      each(some, [](Run& run) { run.hand_on(); });
      each(some, [](Run& run) { run.fold(); });
    }
  }
  each(with[0], [](Run& run) { run.end(); });
}

/// The k-th batches of all of them, for each k in turn.
void enqueue_in_turn(const std::vector<std::vector<Work>>& batches) {
  for (std::size_t k = 0, most = 1; k < most; ++k) {
    std::vector<Work> turn;
    for (const std::vector<Work>& of_one : batches) {
      most = std::max(most, of_one.size());
      if (k < of_one.size()) turn.push_back(of_one[k]);
    }
    enqueue_alike(turn);
  }
}

void enqueue_batch(std::span<const Work> work) {
  if (!NodeRun::any(work)) return enqueue_alike(work);
  std::vector<std::vector<Work>> batches;
  std::transform(work.begin(), work.end(), std::back_inserter(batches), NodeRun::cut);
  enqueue_in_turn(batches);
}

}  // namespace

void enqueue(std::span<const Work> work) {
  if (!ScaledRun::any(work)) return enqueue_batch(work);
  std::vector<std::vector<Round>> rounds;
  std::size_t most = 0;
  for (const Work& one : work) {
    rounds.push_back(ScaledRun::rounds(one));
    most = std::max(most, rounds.back().size());
  }
  // Round by round for all of them: one thread may have several ranks of a communicator.
  for (std::size_t k = 0; k < most; ++k) {
    std::vector<Work> batch;
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (k >= rounds[i].size()) continue;
      const Round& round = rounds[i][k];
      batch.push_back({work[i].engine, round.calls});
      if (round.piece) batch.back().calls = {ScaledRun::begin(*work[i].engine, round)};
    }
    enqueue_batch(batch);
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (k < rounds[i].size() && rounds[i][k].piece) ScaledRun::end(*work[i].engine, rounds[i][k]);
    }
  }
}

}  // namespace detccl::engine::cuda
