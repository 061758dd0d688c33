// SPDX-License-Identifier: Apache-2.0
#include "engine/execution.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

namespace detccl::engine {
namespace {

using device::host::Arithmetic;
using Done = transport::Completion::State;

constexpr std::size_t kAlignment = 64;

/// Two jobs, so that one's folds overlap the other's transfers, and more (long chains of ranks need them) as
/// long as their scratch stays in the caches.
constexpr std::size_t kMinJobs = 2, kMaxJobsUnderWay = 16;
constexpr std::size_t kCachedScratch = std::size_t{3} << 19;

/// Calls of progress() in vain after which the exchange is asked whether it is sound.
constexpr std::uint32_t kFailureInterval = 1024;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// What a program's jobs have in common.
struct Layout {
  const plan::Program* program = nullptr;
  std::vector<std::size_t> slots;       ///< bytes from the job's scratch to each slot
  std::vector<std::uint16_t> ordinals;  ///< of all transfers: by stage, receives then sends
  std::size_t scratch = 0;              ///< bytes
  std::size_t widest = 0;               ///< transfers of the largest stage
};

std::size_t slot_bytes(const plan::Slot& slot, const Arithmetic& arithmetic) {
  return aligned(slot.elements * device::host::element_size(arithmetic, slot.form));
}

/// Numbers transfers per peer and direction.
class Ordinals {
 public:
  std::uint16_t next(std::uint32_t peer) {
    std::uint32_t& count = counts_[peer];
    if (count >= kMaxOrdinals - 1)
      throw std::invalid_argument("too many transfers between two ranks in one program");
    return static_cast<std::uint16_t>(count++);
  }

 private:
  std::map<std::uint32_t, std::uint32_t> counts_;
};

Layout lay_out(const plan::Program& program, const Arithmetic& arithmetic) {
  Layout layout;
  layout.program = &program;
  for (const plan::Slot& slot : program.slots) {
    layout.slots.push_back(layout.scratch);
    layout.scratch += slot_bytes(slot, arithmetic);
  }
  Ordinals receives, sends;
  for (const plan::Stage& stage : program.stages) {
    for (const plan::Transfer& transfer : stage.receives)
      layout.ordinals.push_back(receives.next(transfer.peer));
    for (const plan::Transfer& transfer : stage.sends)
      layout.ordinals.push_back(sends.next(transfer.peer));
    layout.widest = std::max(layout.widest, stage.receives.size() + stage.sends.size());
  }
  return layout;
}

/// A job under way, or room for one.
struct Lane {
  const Job* job = nullptr;  ///< null: free
  const Layout* layout = nullptr;
  std::byte* scratch = nullptr;
  std::uint64_t tag = 0;  ///< of the job's transfer 0
  std::size_t stage = 0;
  std::size_t transfers = 0;  ///< of all stages so far, this one included
  std::size_t in_stage = 0;   ///< transfers of this stage …
  std::size_t complete = 0;   ///< … of which the first so many are known to be complete
  std::unique_ptr<transport::Completion[]> completions;
};

}  // namespace

std::size_t scratch_bytes(const plan::Program& program, const Arithmetic& arithmetic) {
  std::size_t bytes = 0;
  for (const plan::Slot& slot : program.slots)
    bytes += slot_bytes(slot, arithmetic);
  return bytes;
}

void Scratch::Free::operator()(std::byte* p) const {
  std::free(p);
}

std::byte* Scratch::reserve(std::size_t bytes) {
  if (bytes > size_ || memory_ == nullptr) {
    const std::size_t size = aligned(std::max(bytes, kAlignment));
    memory_.reset();
    size_ = 0;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size)));
    if (memory_ == nullptr) throw std::bad_alloc();
    size_ = size;
  }
  return memory_.get();
}

struct Execution::State {
  State(transport::Exchange& e, Scratch& s, const Arithmetic& a, std::vector<Job> j, std::uint32_t sequence,
        Phases* p);

  void set_up_lanes(Scratch& scratch);
  void admit(Lane& lane);
  void start_stage(Lane& lane);
  bool advance(Lane& lane);
  bool transfers_complete(Lane& lane);
  void run_folds(const Lane& lane);
  std::byte* locate(const Lane& lane, const plan::Region& region) const;
  void fail();

  transport::Exchange& exchange;
  Arithmetic arithmetic;
  std::vector<Job> jobs;
  Phases* phases;               ///< may be null
  std::uint64_t tag;            ///< of job 0
  std::size_t sizes[4];         ///< element size by form
  std::vector<Layout> layouts;  ///< one per program
  std::vector<Lane> lanes;
  std::vector<device::host::Operand> operands;  ///< of the fold at hand
  std::size_t next_job = 0, finished = 0;
  std::uint32_t waited = 0;  ///< calls of progress() since something happened
  std::size_t turn = 0;      ///< the lane that is looked at next
  std::uint64_t steps = 0;
  Status status = Status::running;
  std::string failure;
};

Execution::State::State(transport::Exchange& e, Scratch& s, const Arithmetic& a, std::vector<Job> j,
                        std::uint32_t sequence, Phases* p)
    : exchange(e),
      arithmetic(a),
      jobs(std::move(j)),
      phases(p),
      tag(kExecutionTag | std::uint64_t{sequence & 0x7ff} << 36) {
  if (jobs.size() >= kMaxJobs) throw std::invalid_argument(kTooManyChunks);
  for (const plan::Form form : {plan::Form::raw, plan::Form::partial, plan::Form::rounded, plan::Form::final})
    sizes[static_cast<std::size_t>(form)] = device::host::element_size(a, form);
  for (const Job& job : jobs) {
    const auto same = [&job](const Layout& layout) { return layout.program == job.program.get(); };
    if (std::none_of(layouts.begin(), layouts.end(), same)) layouts.push_back(lay_out(*job.program, a));
  }
  std::sort(layouts.begin(), layouts.end(),
            [](const Layout& x, const Layout& y) { return std::less<>()(x.program, y.program); });
  if (jobs.empty()) {
    status = Status::done;
  } else {
    set_up_lanes(s);
  }
}

void Execution::State::set_up_lanes(Scratch& scratch) {
  std::size_t bytes = 0, widest = 0;
  for (const Layout& layout : layouts) {
    bytes = std::max(bytes, layout.scratch);
    widest = std::max(widest, layout.widest);
  }
  std::size_t window = kMaxJobsUnderWay;
  if (bytes != 0) {
    window = std::clamp(kCachedScratch / bytes, kMinJobs, kMaxJobsUnderWay);
    window = std::clamp(scratch.limit() / bytes, std::size_t{1}, window);
  }
  lanes.resize(std::min(window, jobs.size()));
  std::byte* memory = scratch.reserve(lanes.size() * bytes);
  for (Lane& lane : lanes) {
    lane.scratch = memory;
    memory += bytes;
    lane.completions = std::make_unique<transport::Completion[]>(widest);
  }
}

/// Gives the lane the next job, if there is one.
void Execution::State::admit(Lane& lane) {
  lane.job = nullptr;
  if (next_job == jobs.size()) return;
  lane.job = &jobs[next_job];
  const auto before = [](const Layout& x, const plan::Program* p) { return std::less<>()(x.program, p); };
  lane.layout = &*std::lower_bound(layouts.begin(), layouts.end(), lane.job->program.get(), before);
  lane.tag = tag | std::uint64_t{next_job} << 16;
  lane.stage = 0;
  lane.transfers = 0;
  ++next_job;
  start_stage(lane);
}

std::byte* Execution::State::locate(const Lane& lane, const plan::Region& region) const {
  const std::size_t offset = region.offset * sizes[static_cast<std::size_t>(region.form)];
  switch (region.buffer) {
    // Plans never write to the input (the prover sees to it), and an output may be the input.
    case plan::Buffer::input:
      return const_cast<std::byte*>(lane.job->input) + offset;
    case plan::Buffer::output:
      return lane.job->output + offset;
    case plan::Buffer::scratch:
      break;
  }
  return lane.scratch + lane.layout->slots[region.slot] + offset;
}

/// Posts the stage's transfers, receives first: data that come early find their place.
void Execution::State::start_stage(Lane& lane) {
  lane.complete = lane.in_stage = 0;
  if (lane.stage == lane.layout->program->stages.size()) return;
  const plan::Stage& stage = lane.layout->program->stages[lane.stage];
  for (const plan::Transfer& t : stage.receives) {
    const std::size_t bytes = t.region.count * sizes[static_cast<std::size_t>(t.region.form)];
    exchange.receive(t.peer, lane.tag | lane.layout->ordinals[lane.transfers++], locate(lane, t.region),
                     bytes, lane.completions[lane.in_stage++]);
  }
  for (const plan::Transfer& t : stage.sends) {
    const std::size_t bytes = t.region.count * sizes[static_cast<std::size_t>(t.region.form)];
    exchange.send(t.peer, lane.tag | lane.layout->ordinals[lane.transfers++], locate(lane, t.region), bytes,
                  lane.completions[lane.in_stage++]);
  }
}

bool Execution::State::transfers_complete(Lane& lane) {
  while (lane.complete < lane.in_stage) {
    const Done done = lane.completions[lane.complete].state.load(std::memory_order_acquire);
    if (done == Done::pending) return false;
    if (done == Done::failed) {
      fail();
      return false;
    }
    ++lane.complete;
  }
  return true;
}

void Execution::State::run_folds(const Lane& lane) {
  for (const plan::Fold& fold : lane.layout->program->stages[lane.stage].folds) {
    operands.clear();
    for (const plan::Region& region : fold.operands)
      operands.push_back({locate(lane, region), region.form});
    device::host::fold(arithmetic, operands, locate(lane, fold.result), fold.result.form, fold.result.count);
  }
}

/// Whether the lane's stage, if it has one, was finished by this call.
bool Execution::State::advance(Lane& lane) {
  if (lane.job == nullptr || !transfers_complete(lane)) return false;
  if (lane.stage < lane.layout->program->stages.size()) {
    const bool folds = !lane.layout->program->stages[lane.stage].folds.empty();
    if (phases != nullptr && folds) phases->enter(Phase::fold);
    run_folds(lane);
    if (phases != nullptr && folds) phases->enter(Phase::transfer);
    ++lane.stage;
    ++steps;
    start_stage(lane);
  }
  if (lane.stage == lane.layout->program->stages.size()) {
    ++finished;
    admit(lane);
  }
  return true;
}

void Execution::State::fail() {
  exchange.abandon();
  failure = exchange.failure();
  status = Status::failed;
}

Execution::Execution(transport::Exchange& exchange, Scratch& scratch, const Arithmetic& arithmetic,
                     std::vector<Job> jobs, std::uint32_t sequence, Phases* phases)
    : state_(std::make_unique<State>(exchange, scratch, arithmetic, std::move(jobs), sequence, phases)) {
  for (Lane& lane : state_->lanes)
    state_->admit(lane);
}

Execution::~Execution() {
  if (state_->status == Status::running) state_->exchange.abandon();
}

Status Execution::progress() {
  State& s = *state_;
  if (s.status != Status::running) return s.status;
  bool moved = s.exchange.progress();
  for (std::size_t i = 0; i < s.lanes.size() && s.status == Status::running; ++i) {
    Lane& lane = s.lanes[s.turn];
    s.turn = (s.turn + 1) % s.lanes.size();
    if (s.advance(lane)) {
      s.waited = 0;
      moved = true;
      break;
    }
  }
  if (s.phases != nullptr) s.phases->looked(moved);
  // A broken exchange need not fail a completion of ours.
  if (++s.waited % kFailureInterval == 0 && !s.exchange.failure().empty()) s.fail();
  if (s.status == Status::running && s.finished == s.jobs.size() && s.exchange.settled())
    s.status = Status::done;
  return s.status;
}

const std::string& Execution::failure() const {
  return state_->failure;
}

std::uint64_t Execution::steps() const {
  return state_->steps;
}

}  // namespace detccl::engine
