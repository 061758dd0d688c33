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

std::vector<Memory::Run> Memory::runs(Value slot) const {
  if (slot.expression == kNothing) return {};
  if (slot.expression == kSeveral) return several_[slot.span];
  return {{0, spans_[slot.span].count, slot}};
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
  for (const Run& run : runs(whole)) {
    if (run.end <= at || at == end) continue;
    if (run.begin > at) break;
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

void Memory::put(std::uint32_t rank, const Region& region, Value value) {
  Value& whole = slot(rank, region);
  const std::uint64_t end = region.offset + region.count;
  const bool all = whole.expression == kNothing ||
                   (whole.expression != kSeveral && spans_[whole.span].count <= region.count);
  if (region.offset == 0 && all) {
    whole = value;
    return;
  }
  std::vector<Run> list;
  const auto add = [&](const Run& run) {
    if (run.begin >= run.end) return;
    if (!list.empty() && list.back().end == run.begin && run.value.expression != kArriving &&
        list.back().value.expression == run.value.expression) {
      const Span before = spans_[list.back().value.span], after = spans_[run.value.span];
      if (before.begin + before.count == after.begin) {
        list.back().end = run.end;
        list.back().value.span = spans_({before.begin, before.count + after.count});
        return;
      }
    }
    list.push_back(run);
  };
  /// The part [begin, end) of a run.
  const auto add_part = [&](const Run& run, std::uint64_t begin, std::uint64_t stop) {
    if (begin >= stop) return;
    const std::uint64_t from = spans_[run.value.span].begin + (begin - run.begin);
    add({begin, stop, {run.value.expression, spans_({from, stop - begin})}});
  };
  const std::vector<Run> before = runs(whole);
  for (const Run& run : before)
    add_part(run, run.begin, std::min(run.end, region.offset));
  add({region.offset, end, value});
  for (const Run& run : before)
    add_part(run, std::max(run.begin, end), run.end);

  if (list.size() == 1 && list[0].begin == 0) {
    if (whole.expression == kSeveral) unused_.push_back(whole.span);
    whole = list[0].value;
    return;
  }
  if (whole.expression != kSeveral) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(several_.size()));
      several_.emplace_back();
    }
    whole = {kSeveral, unused_.back()};
    unused_.pop_back();
  }
  several_[whole.span] = std::move(list);
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
    for (const Run& run : runs(slot(rank, region))) {
      const bool apart = run.end <= region.offset || region.offset + region.count <= run.begin;
      if (!apart && run.value.expression == kArriving) reject(region, "two receives at the same time");
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
