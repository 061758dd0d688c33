// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "parallel.h"
#include "report.h"

namespace detccl::perf {
namespace {

constexpr std::uint64_t kFillBlock = 65536;  ///< elements that a thread fills at least
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

std::size_t Sweep::part_bytes(const Task& task) const {
  return task.count * contract::size_of(task.type);
}

Call Sweep::call_of(const Task& task) const {
  // In place a buffer of one part is a part of the one that has one for each rank.
  const std::size_t mine = static_cast<std::size_t>(job_.rank()) * part_bytes(task);
  const bool part_sent = options_.in_place && collective_.receives_parts && !collective_.sends_parts;
  const bool part_received = options_.in_place && collective_.sends_parts && !collective_.receives_parts;
  return {send_ + (part_sent ? mine : 0),
          options_.in_place ? send_ + (part_received ? mine : 0) : receive_,
          task.count,
          task.type,
          task.op,
          static_cast<int>(options_.root),
          job_.rank(),
          job_.ranks()};
}

std::vector<Call> Sweep::halves_of(const Call& call) const {
  const std::uint64_t cut = (call.count * 3 / 8) | 1;  // at no border of anything
  const std::size_t size = contract::size_of(call.type), parts = collective_.sent_parts(job_.ranks());
  std::vector<Call> halves(2, call);
  halves[0].count = cut;
  halves[1].count = call.count - cut;
  std::uint64_t first = 0;
  for (Call& half : halves) {
    const std::size_t mine = parts > 1 ? static_cast<std::size_t>(job_.rank()) * half.count : 0;
    half.send = send_ + first * parts * size;
    half.receive = options_.in_place ? send_ + (first * parts + mine) * size : receive_ + first * size;
    first += half.count;
  }
  return halves;
}

void Sweep::call(const Call& call, const Communicator& comm) const {
  comm.check(collective_.nccl(comm.library(), call, comm.get(), device_->stream()), collective_.name);
}

void Sweep::upload_inputs(const Task& task, const std::vector<Call>& calls, std::uint64_t seed) {
  const Values values(task.type, task.op, seed);
  const auto rank = static_cast<std::uint32_t>(job_.rank());
  const std::size_t size = contract::size_of(task.type), parts = collective_.sent_parts(job_.ranks());
  std::uint64_t first = 0;
  for (const Call& call : calls) {
    const std::span<std::byte> input(staging_.data(), call.count * size * parts);
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::span<std::byte> to = input.subspan(part * call.count * size, call.count * size);
      const std::uint64_t origin = part * task.count + first;
      sum_in_parallel(job_.ranks(), 0, call.count, kFillBlock, [&](std::uint64_t begin, std::uint64_t end) {
        values.fill(rank, to.subspan(begin * size, (end - begin) * size), origin + begin);
        return std::uint64_t{0};
      });
    }
    device_->upload(send_ + (static_cast<const std::byte*>(call.send) - send_), input);
    first += call.count;
  }
}

std::span<std::byte> Sweep::results_of(const Task& task, const std::vector<Call>& calls, std::uint64_t seed,
                                       const Communicator& comm) {
  const std::size_t parts = collective_.received_parts(job_.ranks());
  upload_inputs(task, calls, seed);
  if (!options_.in_place) device_->poison(receive_, part_bytes(task) * parts);
  for (const Call& one : calls)
    call(one, comm);
  device_->wait();
  const std::span<std::byte> result(staging_.data(), part_bytes(task) * parts);
  std::size_t at = 0;
  for (const Call& one : calls) {
    const std::size_t bytes = one.count * contract::size_of(task.type) * parts;
    device_->download(result.subspan(at, bytes), static_cast<const std::byte*>(one.receive));
    at += bytes;
  }
  return result;
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
  const Verdict verdict = check(task, one);
  return describe_row({options_, collective_, job_.ranks(), task, timing, verdict});
}

void Sweep::falsify(const Task& task, std::span<std::byte> result) const {
  if (task.count == 0) return;
  const std::size_t size = contract::size_of(task.type), at = task.bytes * 31 % task.count * size;
  std::uint64_t bits = 0;
  std::memcpy(&bits, result.data() + at, size);
  bits += static_cast<std::uint64_t>(options_.fault.ulps);
  std::memcpy(result.data() + at, &bits, size);
}

Verdict Sweep::check(const Task& task, const Call& one) {
  Verdict verdict;
  const bool receives = collective_.receivers != Receivers::root || job_.rank() == one.root;
  for (std::uint64_t seed = 0; seed < options_.checks; ++seed) {
    const std::span<std::byte> result = results_of(task, {one}, seed, *comms_->ours);
    if (options_.fault.rank == job_.rank() && options_.fault.call == seed) falsify(task, result);
    const Values values(task.type, task.op, seed);
    verdict.add(check_result(job_, {collective_, options_.contract, values, one}, result));
    if (seed > 0 || !collective_.reduces) continue;
    const std::uint64_t whole = parallel_digest(job_.ranks(), result);
    const auto differing = [&](const std::vector<Call>& calls, const Communicator& comm) {
      const std::uint64_t again = parallel_digest(job_.ranks(), results_of(task, calls, seed, comm));
      return job_.sum_over_ranks(receives && again != whole ? 1 : 0);
    };
    if (options_.repeats.split && task.count > 1)
      verdict.split_wrong = differing(halves_of(one), *comms_->ours);
    if (comms_->other) verdict.communicator_wrong = differing({one}, *comms_->other);
  }
  return verdict;
}

}  // namespace detccl::perf
