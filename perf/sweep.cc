// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "report.h"

namespace detccl::perf {
namespace {

constexpr int kPatience =
    2;  ///< so many sizes may fail one after the other, then a type and operation is left

/// An environment variable while this lives; an empty value changes nothing. NCCL reads its algorithms when
/// it makes a communicator.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (value.empty()) return;
    const char* before = std::getenv(name);
    if (before != nullptr) before_ = before;
    changed_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (changed_ && before_) setenv(name_, before_->c_str(), 1);
    if (changed_ && !before_) unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  bool changed_ = false;
  std::optional<std::string> before_;
};

std::string heard;

void hear(const profile::Operation* operation, profile::Moment moment, std::uint64_t) {
  if (heard.empty() && moment == profile::Moment::enqueued && operation->schedule != nullptr)
    heard = operation->schedule;
}

/// While it lives, the schedule of the first call that DetCCL makes itself comes into `heard`. Not where a
/// profiler plugin listens.
class Hearing {
 public:
  explicit Hearing(const Library& library)
      : observe_(std::getenv("NCCL_PROFILER_PLUGIN") == nullptr ? library.observe : nullptr) {
    heard.clear();
    if (observe_ != nullptr) observe_(hear);
  }
  ~Hearing() {
    if (observe_ != nullptr) observe_(nullptr);
  }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  profile::Observe observe_;
};

std::string beside_program(const char* file) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / file).lexically_normal().string();
}

std::string native_file(const Options& o) {
  if (!o.nccl.empty()) return o.nccl;
  return o.host ? beside_program("../lib/hostnccl/libnccl.so.2") : "libnccl.so.2";
}

}  // namespace

Sweep::Sweep(Job& job, const Options& options, const Collective& collective, Record record)
    : job_(job), options_(options), collective_(collective), record_(std::move(record)) {
}

bool Sweep::together(const std::function<void()>& action) {
  try {
    action();
    job_.barrier();
    return true;
  } catch (const PeerFailure& e) {
    reason_ = e.what();
  } catch (const std::exception& e) {
    reason_ = "rank " + std::to_string(job_.rank()) + ": " + e.what();
    job_.announce(e.what());
  }
  return false;
}

void Sweep::tell(const nlohmann::ordered_json& record) const {
  if (job_.rank() == 0) record_(record);
}

void Sweep::set_up() {
  if (collective_.rooted && options_.root >= static_cast<std::uint64_t>(job_.ranks()))
    throw UsageError("--root " + std::to_string(options_.root) + ": the ranks are 0 to " +
                     std::to_string(job_.ranks() - 1));
  if (options_.fault.rank >= job_.ranks())
    throw UsageError("--inject: the ranks are 0 to " + std::to_string(job_.ranks() - 1));
  if (options_.fault.rank >= 0 && collective_.receivers == Receivers::root &&
      static_cast<std::uint64_t>(options_.fault.rank) != options_.root)
    throw UsageError("--inject: only the root receives anything");
  const Job::Place place = job_.place();
  device_ = options_.host ? host_device() : gpu_device(place.local_rank, gpu_);
  native_ = load_library(native_file(options_));
  if (!options_.host) sharing_ = set_up_bench(options_.bench, native_, place, job_.rank(), gpu_.count);
  // DetCCL reads its variables when its first communicator is made.
  setenv("DETCCL_NCCL_LIBRARY", native_.path.c_str(), 1);
  setenv("DETCCL_CONTRACT", contract::to_string(options_.contract).c_str(), 1);
  ours_ = load_library(options_.detccl.empty() ? beside_program("../lib/libdetccl.so") : options_.detccl);

  std::size_t sent = 0, received = 0;
  tasks_ = tasks(options_, collective_, job_.ranks());
  for (const Task& task : tasks_) {
    sent = std::max(sent, part_bytes(task) * collective_.sent_parts(job_.ranks()));
    received = std::max(received, part_bytes(task) * collective_.received_parts(job_.ranks()));
  }
  send_ = device_->allocate(options_.in_place ? std::max(sent, received) : sent);
  if (!options_.in_place) receive_ = device_->allocate(received);
  staging_.resize(std::max(sent, received));
}

void Sweep::connect() {
  comms_.emplace();
  if (options_.against == Against::native) {
    const Variable algorithm("NCCL_ALGO", options_.native_algo);
    comms_->native.emplace(native_, job_);
  }
  comms_->ours.emplace(ours_, job_);
  if (collective_.reduces && options_.checks > 0 && options_.repeats.communicator)
    comms_->other.emplace(ours_, job_);
}

Ending Sweep::run(std::uint32_t first) {
  if (!together([&] { set_up(); })) {
    tell(describe_failure(nullptr, reason_));
    return Ending::hopeless;
  }
  tell(describe_run({options_, collective_, job_.ranks(), gpu_, sharing_.bench, native_}));
  if (!sharing_.warning.empty()) tell({{"kind", "warning"}, {"text", sharing_.warning}});
  int failures = 0;
  for (std::uint32_t step = first; step < tasks_.size(); ++step) {
    const Task& task = tasks_[step];
    job_.set_step(step);
    if (!comms_ && !together([&] { connect(); })) {
      tell(describe_failure(&task, reason_));
      return Ending::broken;
    }
    nlohmann::ordered_json row;
    if (together([&] { row = measure_task(task); })) {
      tell(row);
      failures = 0;
      continue;
    }
    tell(describe_failure(&task, reason_));
    comms_.reset();
    if (++failures < kPatience) continue;
    failures = 0;
    while (step + 1 < tasks_.size() && tasks_[step + 1].type == task.type && tasks_[step + 1].op == task.op)
      ++step;
  }
  const bool ended = !comms_ || together([&] {
    if (comms_->other) comms_->other->finish();
    comms_->ours->finish();
    if (comms_->native) comms_->native->finish();
  });
  if (!ended) tell(describe_failure(nullptr, reason_));
  return ended ? Ending::through : Ending::broken;
}

nlohmann::ordered_json Sweep::measure_task(const Task& task) {
  const Call one = call_of(task);
  upload_inputs(task, {one}, 0);
  const std::function<void()> ours = [&] { call(one, *comms_->ours); };
  std::function<void()> peer;
  if (options_.against == Against::native) peer = [&] { call(one, *comms_->native); };
  if (options_.against == Against::mpi) peer = [&] { collective_.mpi(one); };

  Effort effort{options_.rounds, options_.iterations, options_.warmup, options_.graph, options_.row_seconds};
  if (options_.host) effort.rounds = options_.iterations, effort.calls = 1;
  const Timing timing = measure(job_, *device_, effort, ours, peer);
  const Hearing hearing(ours_);
  const Verdict verdict = check(task, one);
  auto row = describe_row({options_, collective_, job_.ranks(), task, timing, verdict});
  if (!heard.empty()) row["carried_out_by"] = heard;
  return row;
}

}  // namespace detccl::perf
