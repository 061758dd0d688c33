// SPDX-License-Identifier: Apache-2.0
#include "plan/prover/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/prover/rejection.h"

namespace detccl::plan::prover {
namespace {

[[noreturn]] void reject(const Region& region, const char* why) {
  throw Rejection(fmt::format("{}: {}", describe(region), why));
}

/// The places where outputs can be cut: all borders of regions there, and both ends.
std::vector<std::uint64_t> output_cuts(const FlatPrograms& flat, std::uint64_t count) {
  std::vector<std::uint64_t> cuts{0, count};
  for (const Region& r : flat.regions) {
    if (r.buffer != Buffer::output) continue;
    cuts.push_back(r.offset);
    cuts.push_back(r.offset + r.count);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

Memory::Memory(const FlatPrograms& flat, const Spec& spec, bool in_place)
    : flat_(flat),
      spec_(spec),
      in_place_(in_place),
      slots_(flat.first_slot.back(), Value{kNothing, 0}),
      cuts_(output_cuts(flat, spec.count)),
      cell_count_(cuts_.size() - 1),
      written_(flat.ranks() * cell_count_, 0),
      any_written_(flat.ranks(), 0) {
  const auto cell = [&](std::uint64_t element) {
    return static_cast<std::uint32_t>(std::lower_bound(cuts_.begin(), cuts_.end(), element) - cuts_.begin());
  };
  for (const Region& r : flat.regions) {
    Facts facts;
    if (r.buffer == Buffer::input) facts.span = spans_(span_of_input(r));
    if (r.buffer == Buffer::output) facts = {0, cell(r.offset), cell(r.offset + r.count)};
    facts_.push_back(facts);
  }
}

std::uint64_t Memory::output_begin(std::uint32_t rank) const {
  return spec_.collective == Collective::reduce_scatter ? rank * spec_.count : 0;
}

std::uint64_t Memory::output_place(std::uint32_t rank) const {
  return spec_.collective == Collective::reduce_scatter ? rank * spec_.stride : 0;
}

/// A region reaches over several shards only where there is nothing between them.
Span Memory::span_of_input(const Region& region) const {
  if (spec_.collective != Collective::reduce_scatter) return {region.offset, region.count};
  return {region.offset / spec_.stride * spec_.count + region.offset % spec_.stride, region.count};
}

/// Whether a part of this region of the input has been overwritten by the output's.
bool Memory::overwritten(std::uint32_t rank, const Region& region) const {
  if (!in_place_ || any_written_[rank] == 0) return false;
  const std::uint64_t base = output_place(rank);
  const std::uint64_t first = std::max(region.offset, base);
  const std::uint64_t end = std::min(region.offset + region.count, base + spec_.count);
  if (first >= end) return false;
  const auto* cell = written_.data() + rank * cell_count_;
  auto at = std::upper_bound(cuts_.begin(), cuts_.end(), first - base) - 1;
  for (; at != cuts_.end() && *at < end - base; ++at) {
    if (cell[at - cuts_.begin()] != 0) return true;
  }
  return false;
}

std::span<const Memory::Run> Memory::runs(Value slot, Run& one) const {
  if (slot.expression == kNothing) return {};
  if (slot.expression == kSeveral) return several_[slot.span];
  one = {0, spans_[slot.span].count, slot};
  return {&one, 1};
}

/// The first run that ends after `at`.
std::size_t Memory::first_run(std::span<const Run> list, std::uint64_t at) {
  const auto before = [](std::uint64_t element, const Run& run) { return element < run.end; };
  return static_cast<std::size_t>(std::upper_bound(list.begin(), list.end(), at, before) - list.begin());
}

Value Memory::read_slot(std::uint32_t rank, const Region& region) {
  const Value whole = slot(rank, region);
  if (whole.expression == kNothing) reject(region, "read before it is written");
  if (whole.expression != kSeveral && region.offset == 0 && spans_[whole.span].count == region.count) {
    if (whole.expression == kArriving) reject(region, "read while it is being received");
    return whole;
  }
  const std::uint64_t end = region.offset + region.count;
  std::uint64_t at = region.offset;
  Value first;
  std::uint64_t from = 0;  // the element of the message at the region's start
  Run one;
  const auto list = runs(whole, one);
  for (std::size_t i = first_run(list, at); i < list.size() && at != end && list[i].begin <= at; ++i) {
    const Run& run = list[i];
    if (run.value.expression == kArriving) reject(region, "read while it is being received");
    const std::uint64_t element = spans_[run.value.span].begin + (at - run.begin);
    if (at == region.offset) {
      first = run.value;
      from = element;
    } else if (run.value.expression != first.expression || element != from + (at - region.offset)) {
      reject(region, "read across two values");
    }
    at = std::min(end, run.end);
  }
  if (at == region.offset) reject(region, "read before it is written");
  if (at < end) reject(region, "read beyond what was written");
  return {first.expression, spans_({from, region.count})};
}

/// Makes one of run `i` and the next, if they are.
void Memory::join(std::vector<Run>& list, std::size_t i) {
  if (i + 1 >= list.size()) return;
  Run &run = list[i], &next = list[i + 1];
  const Span before = spans_[run.value.span], after = spans_[next.value.span];
  if (run.end != next.begin || run.value.expression != next.value.expression ||
      run.value.expression == kArriving || before.begin + before.count != after.begin) {
    return;
  }
  run.end = next.end;
  run.value.span = spans_({before.begin, before.count + after.count});
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(i) + 1);
}

/// Puts `run` into the list in place of whatever is there.
void Memory::put_run(std::vector<Run>& list, const Run& run) {
  const std::size_t first = first_run(list, run.begin);
  std::size_t last = first;  // runs that overlap the new one
  while (last < list.size() && list[last].begin < run.end)
    ++last;
  std::vector<Run> pieces;  // what remains of them, and the new one
  const auto keep = [&](const Run& old, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    const std::uint64_t from = spans_[old.value.span].begin + (begin - old.begin);
    pieces.push_back({begin, end, {old.value.expression, spans_({from, end - begin})}});
  };
  if (first < last) keep(list[first], list[first].begin, run.begin);
  const std::size_t at = first + pieces.size();
  pieces.push_back(run);
  if (first < last) keep(list[last - 1], run.end, list[last - 1].end);
  const auto to = list.erase(list.begin() + static_cast<std::ptrdiff_t>(first),
                             list.begin() + static_cast<std::ptrdiff_t>(last));
  list.insert(to, pieces.begin(), pieces.end());
  join(list, at);
  if (at > 0) join(list, at - 1);
}

void Memory::put(std::uint32_t rank, const Region& region, Value value) {
  Value& whole = slot(rank, region);
  const bool all = whole.expression == kNothing ||
                   (whole.expression != kSeveral && spans_[whole.span].count <= region.count);
  if (region.offset == 0 && all) {
    whole = value;
    return;
  }
  if (whole.expression != kSeveral) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(several_.size()));
      several_.emplace_back();
    }
    const std::uint32_t number = unused_.back();
    unused_.pop_back();
    Run one;
    const auto list = runs(whole, one);
    several_[number].assign(list.begin(), list.end());
    whole = {kSeveral, number};
  }
  std::vector<Run>& list = several_[whole.span];
  put_run(list, {region.offset, region.offset + region.count, value});
  if (list.size() == 1 && list[0].begin == 0) {
    unused_.push_back(whole.span);
    whole = list[0].value;
  }
}

Value Memory::read(std::uint32_t rank, std::uint32_t number) {
  const Region& region = flat_.regions[number];
  const Facts& facts = facts_[number];
  switch (region.buffer) {
    case Buffer::input:
      if (overwritten(rank, region)) reject(region, "read when it is overwritten: the output is in place");
      return {rank, facts.span};
    case Buffer::output: {
      const std::uint8_t* cell = cells(rank);
      if (!std::all_of(cell + facts.first_cell, cell + facts.end_cell, [](auto c) { return c != 0; })) {
        reject(region, "read before it is written");
      }
      return {kResult, spans_({output_begin(rank) + region.offset, region.count})};
    }
    case Buffer::scratch:
      return read_slot(rank, region);
  }
  reject(region, "no such buffer");
}

void Memory::expect(std::uint32_t rank, std::uint32_t number) {
  const Region& region = flat_.regions[number];
  if (region.buffer == Buffer::scratch) {
    Run one;
    const auto list = runs(slot(rank, region), one);
    for (std::size_t i = first_run(list, region.offset);
         i < list.size() && list[i].begin < region.offset + region.count; ++i) {
      if (list[i].value.expression == kArriving) reject(region, "two receives at the same time");
    }
    put(rank, region, {kArriving, spans_({0, region.count})});
    return;
  }
  std::uint8_t* cell = cells(rank);
  for (std::uint32_t c = facts_[number].first_cell; c < facts_[number].end_cell; ++c) {
    if (cell[c] != 0) reject(region, "written twice");
    cell[c] = 1;
  }
  any_written_[rank] = 1;
}

/// In the output, a value's elements must be the region's.
void Memory::check_place(std::uint32_t rank, const Region& region, Value value) const {
  if (region.buffer != Buffer::output) return;
  const Span wanted{output_begin(rank) + region.offset, region.count};
  if (!(spans_[value.span] == wanted)) reject(region, "gets the result of other elements");
}

void Memory::arrive(std::uint32_t rank, std::uint32_t number, Value value) {
  const Region& region = flat_.regions[number];
  check_place(rank, region, value);
  if (region.buffer == Buffer::scratch) put(rank, region, value);
}

void Memory::write(std::uint32_t rank, std::uint32_t number, Value value) {
  const Region& region = flat_.regions[number];
  if (region.buffer == Buffer::output) expect(rank, number);
  arrive(rank, number, value);
}

void Memory::check_outputs() const {
  for (std::uint32_t rank = 0; rank < flat_.ranks(); ++rank) {
    if (spec_.collective == Collective::reduce && rank != spec_.root) continue;
    for (std::size_t c = 0; c < cell_count_; ++c) {
      if (written_[rank * cell_count_ + c] != 0) continue;
      throw Rejection(fmt::format("rank {}: output elements {} to {} are never written", rank, cuts_[c],
                                  cuts_[c + 1] - 1));
    }
  }
}

}  // namespace detccl::plan::prover
