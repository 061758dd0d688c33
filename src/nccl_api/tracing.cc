// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/tracing.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "fingerprint/digest.h"
#include "nccl_api/leave.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"
#include "profile/range.h"
#include "recorder/chunks.h"
#include "recorder/context.h"

namespace detccl::nccl_api {
namespace {

using trace::Kind;

std::uint64_t nanoseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::optional<std::uint32_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  return error == std::errc{} && end == view.data() + view.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint32_t> first_number(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    if (const auto number = number_in(variable)) return number;
  }
  return std::nullopt;
}

/// Elements that a rank gives and gets; none where it takes no part on that side.
struct Extents {
  std::optional<std::size_t> in, out;
};

Extents extents(const TracedCall& call, std::size_t rank, std::size_t ranks) {
  const std::size_t one = call.count, all = call.count * ranks;
  const bool root = call.peer == static_cast<int>(rank);
  const auto at_root = [root](std::size_t count) { return root ? std::optional(count) : std::nullopt; };
  switch (call.kind) {
    case Kind::all_reduce:
      return {one, one};
    case Kind::reduce_scatter:
      return {all, one};
    case Kind::reduce:
      return {one, at_root(one)};
    case Kind::all_gather:
      return {one, all};
    case Kind::broadcast:
      return {at_root(one), one};
    case Kind::all_to_all:
      return {all, all};
    case Kind::gather:
      return {one, at_root(all)};
    case Kind::scatter:
      return {at_root(all), one};
    case Kind::send:
      return {one, std::nullopt};
    case Kind::recv:
      break;
  }
  return {std::nullopt, one};
}

std::size_t element_size(ncclDataType_t type) {
  const int number = type;
  return number >= 0 && number < contract::kDataTypes
             ? contract::size_of(static_cast<contract::DataType>(type))
             : 0;
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

trace::Digest to_record(const fingerprint::Digest& digest) {
  return {digest.b, digest.a};
}

trace::RunInfo run_info(const JobRank& job, const Configuration& configuration) {
  trace::RunInfo info;
  info.rank = job.rank;
  info.world_size = job.size;
  info.start_ns = nanoseconds();
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) info.host = host.data();
  info.version = DETCCL_VERSION;
  info.contract = contract::to_string(configuration.contract);
  info.nccl = real().library.path();
  for (const char* name : {"DETCCL_CONTRACT", "DETCCL_SCHEDULE", "DETCCL_CHUNK", "NCCL_ALGO", "NCCL_PROTO"}) {
    if (const char* value = std::getenv(name); value != nullptr) info.environment[name] = value;
  }
  return info;
}

}  // namespace

JobRank job_rank(std::uint32_t rank, std::uint32_t size) {
  return {
      first_number({"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}).value_or(rank),
      first_number({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}).value_or(size)};
}

std::unique_ptr<Tracing> Tracing::make(const Configuration& configuration) {
  return configuration.trace ? std::make_unique<Tracing>(configuration) : nullptr;
}

recorder::Recorder* Tracing::recorder(const Communicator& first) {
  const std::lock_guard lock(mutex_);
  if (recorder_ != nullptr || not_this_rank_ || closed_) return recorder_.get();
  const JobRank job =
      job_rank(static_cast<std::uint32_t>(first.rank()), static_cast<std::uint32_t>(first.ranks()));
  not_this_rank_ =
      !configuration_.trace_ranks.empty() &&
      std::none_of(configuration_.trace_ranks.begin(), configuration_.trace_ranks.end(),
                   [&job](const auto& range) { return range.first <= job.rank && job.rank <= range.second; });
  if (not_this_rank_) return nullptr;
  recorder::Options options;
  options.folder = configuration_.trace_folder;
  options.steps = {configuration_.trace_steps.first, configuration_.trace_steps.second};
  options.chunk_bytes = configuration_.trace_chunk_bytes;
  options.times = configuration_.trace_times;
  const trace::RunInfo info = run_info(job, configuration_);
  start_ns_ = info.start_ns;
  recorder_ = std::make_unique<recorder::Recorder>(
      options, info, [](const std::string& line) { log_line(LogLevel::warn, "trace: " + line); });
  if (!runtime().on_host) gpu_ = gpu::make_tracing(*recorder_);
  leave_at_exit();
  if (const std::string problem = recorder_->problem(); !problem.empty())
    log_line(LogLevel::error, "no trace: " + problem);
  log_line(LogLevel::info, "tracing into " + recorder_->path());
  return recorder_.get();
}

std::uint64_t Tracing::key_of(Communicator& communicator, recorder::Recorder& to) {
  const std::lock_guard lock(mutex_);
  trace::Communicator& identity = communicator.identity();
  if (identity.key != 0) return identity.key;
  identity.rank = static_cast<std::uint32_t>(communicator.rank());
  identity.size = static_cast<std::uint32_t>(communicator.ranks());
  identity.key = trace::communicator_key(identity);
  to.add_communicator(identity);
  return identity.key;
}

void Tracing::look_at(Pending& pending, const void* data, std::size_t bytes, bool is_output) {
  const profile::Range range("digest");
  (is_output ? pending.record.output : pending.record.input) = to_record(fingerprint::digest(data, bytes));
  if (configuration_.trace_chunk_bytes == 0 || bytes == 0) return;
  const recorder::Chunks chunks = recorder::chunks_of(bytes, configuration_.trace_chunk_bytes);
  std::vector<fingerprint::Sums> sums(chunks.count);
  fingerprint::chunks(data, bytes, chunks.bytes, sums.data());
  pending.tables.push_back(recorder::chunk_table(bytes, chunks.bytes, is_output, sums));
}

std::unique_ptr<Tracing::Pending> Tracing::before(std::shared_ptr<Communicator> communicator,
                                                  const TracedCall& call, std::uint8_t flags,
                                                  QueuedReduction* ours) {
  recorder::Recorder* to = communicator == nullptr ? nullptr : recorder(*communicator);
  const std::size_t size = element_size(call.type);
  if (to == nullptr || !to->wanted() || size == 0 || call.count == 0) return nullptr;
  auto pending = std::make_unique<Pending>();
  pending->call = call;
  trace::Record& record = pending->record;
  record.communicator = key_of(*communicator, *to);
  record.count = call.count;
  record.kind = call.kind;
  record.type = static_cast<std::uint8_t>(call.type);
  if (call.op >= 0) record.op = static_cast<std::uint8_t>(std::min<int>(call.op, ncclNumOps));
  if (call.peer >= 0) record.peer = static_cast<std::uint32_t>(call.peer);
  record.flags = flags;
  const Extents e = extents(call, static_cast<std::size_t>(communicator->rank()),
                            static_cast<std::size_t>(communicator->ranks()));
  // A native operation's arguments have not been looked at yet: what is wrong with them is the real library's
  // to say.
  if ((e.in && call.send == nullptr) || (e.out && call.receive == nullptr)) return nullptr;
  if (!e.in) record.flags |= trace::kNoInput;
  if (!e.out) record.flags |= trace::kNoOutput;
  if (e.in && e.out && overlap(call.send, *e.in * size, call.receive, *e.out * size))
    record.flags |= trace::kInPlace;
  pending->communicator = std::move(communicator);
  if (gpu_ != nullptr) {
    put_on_stream(*pending, e.in.value_or(0) * size, e.out.value_or(0) * size, ours);
    return pending;
  }
  if (e.in) look_at(*pending, call.send, *e.in * size, false);
  pending->began_ns = nanoseconds();
  record.start_ns = pending->began_ns - start_ns_;
  return pending;
}

void Tracing::after(std::unique_ptr<Pending> pending) {
  if (pending == nullptr) return;
  if (gpu_ != nullptr) {
    if (pending->on_gpu) gpu_->after(*pending->on_gpu, pending->call.receive);
    return;
  }
  const std::uint64_t took = nanoseconds() - pending->began_ns;
  pending->record.duration_ns =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(took, trace::kNoDuration - 1));
  const Communicator& communicator = *pending->communicator;
  const Extents e = extents(pending->call, static_cast<std::size_t>(communicator.rank()),
                            static_cast<std::size_t>(communicator.ranks()));
  if (e.out) look_at(*pending, pending->call.receive, *e.out * element_size(pending->call.type), true);
  const std::lock_guard lock(mutex_);
  if (recorder_ != nullptr) recorder_->append(pending->record, std::move(pending->tables));
}

void Tracing::put_on_stream(Pending& pending, std::size_t in_bytes, std::size_t out_bytes,
                            QueuedReduction* ours) {
  recorder::Site site;
  site.record = pending.record;
  site.record.step = recorder::current_step();
  site.record.start_ns = nanoseconds() - start_ns_;
  site.phase = recorder::current_phase();
  site.input_bytes = in_bytes;
  site.output_bytes = out_bytes;
  const auto shadow = ours == nullptr ? nullptr : pending.communicator->gpu();
  const bool records = shadow != nullptr && shadow->records(ours->call, ours->alone);
  pending.on_gpu =
      gpu_->before(*pending.communicator, std::move(site), pending.call.send, pending.call.stream, records);
  if (pending.on_gpu && ours != nullptr) ours->recording = pending.on_gpu->recording;
}

void Tracing::prepare(Communicator& communicator) {
  if (!runtime().on_host && recorder(communicator) != nullptr && gpu_ != nullptr) gpu_->prepare(communicator);
}

void Tracing::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (recorder_ == nullptr) return;
  if (gpu_ != nullptr) gpu_->close();
  recorder_->close();
  if (const std::string problem = recorder_->problem(); !problem.empty())
    log_line(LogLevel::error, "trace: " + problem);
  recorder_.reset();
}

}  // namespace detccl::nccl_api
