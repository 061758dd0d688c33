// SPDX-License-Identifier: Apache-2.0
// A sweep's calls, their inputs, and whether their results are right.
#include <cstring>

#include "parallel.h"
#include "sweep.h"

namespace detccl::perf {
namespace {

constexpr std::uint64_t kFillBlock = 65536;  ///< elements that a thread fills at least

}  // namespace

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
