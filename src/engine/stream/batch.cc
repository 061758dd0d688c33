// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/batch.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace detccl::engine::stream {
namespace {

using device::host::Arithmetic;
using device::host::element_size;
using device::host::Operand;
using plan::Region;

/// Waves that have scratch at a time, at least: the next one's first transfers, and one that is at its folds.
constexpr std::size_t kMinRooms = 2;

/// Where a task's regions are.
struct Places {
  const Task& task;
  std::byte* scratch;

  std::byte* operator()(const Region& region) const {
    const std::size_t offset = region.offset * element_size(task.arithmetic, region.form);
    switch (region.buffer) {
      // Plans never write to the input (the prover sees to it), and an output may be the input.
      case plan::Buffer::input:
        return const_cast<std::byte*>(task.input) + offset;
      case plan::Buffer::output:
        return task.output + offset;
      case plan::Buffer::scratch:
        break;
    }
    return scratch + task.program->slots[region.slot] + offset;
  }
  std::size_t bytes(const Region& region) const {
    return region.count * element_size(task.arithmetic, region.form);
  }
};

/// Aligned blocks of kMaxOperands are subtrees of the canonical tree; linear, the sum so far is the next
/// first operand.
void fold_long(const Task& task, std::vector<Operand> operands, std::byte* partials, void* result,
               plan::Form form, std::uint64_t count, Machine& machine) {
  const Arithmetic& arithmetic = task.arithmetic;
  const std::size_t each = count * element_size(arithmetic, plan::Form::partial);
  while (operands.size() > kMaxOperands) {
    std::vector<Operand> next;
    if (arithmetic.order == contract::Order::linear) {
      machine.fold(arithmetic, std::span(operands).first(kMaxOperands), partials, plan::Form::partial, count);
      next.push_back({partials, plan::Form::partial});
      next.insert(next.end(), operands.begin() + kMaxOperands, operands.end());
    } else {
      for (std::size_t lo = 0; lo < operands.size(); lo += kMaxOperands) {
        const auto block = std::span(operands).subspan(lo, std::min(kMaxOperands, operands.size() - lo));
        std::byte* place = partials + next.size() * ((each + 255) / 256 * 256);
        machine.fold(arithmetic, block, place, plan::Form::partial, count);
        next.push_back({place, plan::Form::partial});
      }
    }
    operands = std::move(next);
  }
  machine.fold(arithmetic, operands, result, form, count);
}

}  // namespace

Batch::Batch(std::vector<Task> tasks, std::size_t scratch_limit, Pace pace)
    : tasks_(std::move(tasks)), progress_(tasks_.size()) {
  make_waves(scratch_limit);
  if (waves_.size() > 1 && pace == Pace::overlapped) {  // in smaller waves, so that several have room
    make_waves(scratch_limit / kMinRooms);
    overlapped_ = true;
  }
  for (const Wave& wave : waves_)
    room_bytes_ = std::max(room_bytes_, wave.scratch);
  if (room_bytes_ > scratch_limit)
    throw std::invalid_argument("a chunk needs more scratch than the communicator has: use smaller chunks");
  for (const Task& task : tasks_) {
    length_ = std::max(length_, length(task));
    life_ = std::max(life_, task.program->scratch_life);
  }
  const bool one_kind = std::all_of(tasks_.begin(), tasks_.end(), [this](const Task& task) {
    return task.program->kind == tasks_.front().program->kind;
  });
  if (!one_kind) life_ = length_;
  if (overlapped_) {
    rooms_ = std::min<std::size_t>(waves_.size(), life_);
    if (room_bytes_ != 0) rooms_ = std::clamp<std::size_t>(scratch_limit / room_bytes_, 1, rooms_);
    interval_ = static_cast<std::uint32_t>((life_ + rooms_ - 1) / rooms_);
  }
  if (pace == Pace::one_by_one) interval_ = std::max(length_, 1u);
  if (!waves_.empty()) ticks_ = static_cast<std::uint32_t>(waves_.size() - 1) * interval_ + length_;
}

void Batch::make_waves(std::size_t most_scratch) {
  waves_.clear();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task& task = tasks_[i];
    if (!waves_.empty()) {
      const Wave& last = waves_.back();
      const std::uint64_t limit = std::min(last.limit, task.wave_bytes);
      if (last.bytes + task.bytes > limit || last.scratch + task.program->scratch > most_scratch)
        waves_.push_back({i, i, 0, 0, task.wave_bytes});
    } else {
      waves_.push_back({i, i, 0, 0, task.wave_bytes});
    }
    Wave& wave = waves_.back();
    progress_[i].scratch = wave.scratch;
    wave.last = i + 1;
    wave.scratch += task.program->scratch;
    wave.bytes += task.bytes;
    wave.limit = std::min(wave.limit, task.wave_bytes);
  }
}

const std::vector<Action>& Batch::actions(const Task& task) const {
  return overlapped_ ? task.program->overlapped : task.program->serial;
}

std::uint32_t Batch::length(const Task& task) const {
  return overlapped_ ? task.program->overlapped_length : task.program->serial_length;
}

void Batch::turn_to(std::uint32_t tick) {
  current_.clear();
  const std::size_t first = tick < length_ ? 0 : (tick - length_) / interval_ + 1;
  for (std::size_t w = first; w < waves_.size() && w * interval_ <= tick; ++w) {
    const auto since = static_cast<std::uint32_t>(tick - w * interval_);
    const std::size_t room = w % rooms_ * room_bytes_;
    for (std::size_t i = waves_[w].first; i < waves_[w].last; ++i) {
      const std::vector<Action>& all = actions(tasks_[i]);
      Progress& progress = progress_[i];
      for (; progress.next < all.size() && all[progress.next].tick == since; ++progress.next)
        current_.push_back({&tasks_[i], &all[progress.next], room + progress.scratch});
    }
  }
}

bool Batch::has_transfers() const {
  return std::any_of(current_.begin(), current_.end(), [](const Current& c) {
    return !c.action->receives.empty() || !c.action->sends.empty();
  });
}

bool Batch::is_one_gather() const {
  return current_.size() == 1 && current_.front().action->all_gather;
}

bool Batch::has_folds() const {
  return std::any_of(current_.begin(), current_.end(), [](const Current& c) { return c.action->folds; });
}

void Batch::exchange(std::byte* scratch, Machine& machine) const {
  for (const Current& c : current_) {
    const plan::Stage& stage = c.task->program->program->stages[c.action->stage];
    const Places place{*c.task, scratch + c.scratch};
    if (c.action->all_gather) {
      const plan::Transfer& part = stage.receives.front();
      const Region& own = stage.sends.front().region;
      const std::size_t bytes = place.bytes(own);
      machine.all_gather(place(own), place(part.region) - part.peer * bytes, bytes);
      continue;
    }
    for (const std::uint32_t i : c.action->receives) {
      const plan::Transfer& t = stage.receives[i];
      machine.receive(t.peer, place(t.region), place.bytes(t.region));
    }
    for (const std::uint32_t i : c.action->sends) {
      const plan::Transfer& t = stage.sends[i];
      machine.send(t.peer, place(t.region), place.bytes(t.region));
    }
  }
}

void Batch::fold(std::byte* scratch, Machine& machine) const {
  std::vector<Operand> operands;
  for (const Current& c : current_) {
    if (!c.action->folds) continue;
    const Places place{*c.task, scratch + c.scratch};
    for (const plan::Fold& fold : c.task->program->program->stages[c.action->stage].folds) {
      operands.clear();
      for (const Region& region : fold.operands)
        operands.push_back({place(region), region.form});
      if (operands.size() <= kMaxOperands) {
        machine.fold(c.task->arithmetic, operands, place(fold.result), fold.result.form, fold.result.count);
      } else {
        fold_long(*c.task, operands, place.scratch + c.task->program->partials, place(fold.result),
                  fold.result.form, fold.result.count, machine);
      }
    }
  }
}

}  // namespace detccl::engine::stream
