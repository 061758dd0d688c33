// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/ring_programs.h"

#include <algorithm>
#include <utility>

namespace detccl::hostnccl {
namespace {

using plan::Buffer;
using plan::Form;
using plan::Region;

Region input(std::uint64_t offset, std::uint64_t count) {
  return {offset, count, 0, Buffer::input, Form::raw};
}

Region output(std::uint64_t offset, std::uint64_t count) {
  return {offset, count, 0, Buffer::output, Form::final};
}

Region slot(std::uint32_t index, std::uint64_t count, Form form) {
  return {0, count, index, Buffer::scratch, form};
}

void add_send(plan::Stage& stage, std::uint32_t peer, const Region& region) {
  if (region.count != 0) stage.sends.push_back({region, peer});
}

void add_receive(plan::Stage& stage, std::uint32_t peer, const Region& region) {
  if (region.count != 0) stage.receives.push_back({region, peer});
}

void add_fold(plan::Stage& stage, std::vector<Region> operands, const Region& result) {
  if (result.count != 0) stage.folds.push_back({std::move(operands), result});
}

/// A rank's place in the ring.
struct Place {
  Place(const Ring& ring, std::uint32_t rank)
      : size(static_cast<std::uint32_t>(ring.size())),
        position(position_of(ring, rank)),
        next(ring[(position + 1) % size]),
        previous(ring[(position + size - 1) % size]) {}
  /// The position `back` places before the own one.
  std::uint32_t behind(std::uint32_t back) const { return (position + 2 * size - back) % size; }

  std::uint32_t size, position, next, previous;
};

/// Slot 0 takes the neighbour's raw values, slots 1 and 2 partial sums in turn: one is on its way to the next
/// rank while the other is received into and added to.
std::vector<plan::Slot> reduction_slots(std::uint64_t elements) {
  return {{elements, Form::raw}, {elements, Form::partial}, {elements, Form::partial}};
}

/// The n-1 steps that leave chunk p, reduced, in `result` at position p. inputs[c]: chunk c in the input.
void add_reduction(plan::Program& program, const Place& place, std::span<const Region> inputs,
                   const Region& result) {
  if (place.size == 1) {
    add_fold(program.stages.emplace_back(), {inputs[0]}, result);
    return;
  }
  for (std::uint32_t step = 0; step + 1 < place.size; ++step) {
    plan::Stage& stage = program.stages.emplace_back();
    const Region& leaving = inputs[place.behind(step + 1)];
    const Region& arriving = inputs[place.behind(step + 2)];
    const std::uint32_t mine = 1 + step % 2, other = 1 + (step + 1) % 2;
    add_send(stage, place.next, step == 0 ? leaving : slot(other, leaving.count, Form::partial));
    const Region received =
        step == 0 ? slot(0, arriving.count, Form::raw) : slot(mine, arriving.count, Form::partial);
    add_receive(stage, place.previous, received);
    const bool last = step + 2 == place.size;
    add_fold(stage, {received, arriving}, last ? result : slot(mine, arriving.count, Form::partial));
  }
}

}  // namespace

std::uint32_t position_of(const Ring& ring, std::uint32_t rank) {
  return static_cast<std::uint32_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
}

plan::Program ring_all_reduce(const Ring& ring, std::uint32_t rank, std::span<const std::uint64_t> starts,
                              std::span<const std::uint64_t> counts) {
  const Place place(ring, rank);
  plan::Program program;
  program.slots = reduction_slots(*std::max_element(counts.begin(), counts.end()));
  std::vector<Region> inputs, outputs;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    inputs.push_back(input(starts[c], counts[c]));
    outputs.push_back(output(starts[c], counts[c]));
  }
  add_reduction(program, place, inputs, outputs[place.position]);
  for (std::uint32_t step = 0; step + 1 < place.size; ++step) {
    plan::Stage& stage = program.stages.emplace_back();
    add_send(stage, place.next, outputs[place.behind(step)]);
    add_receive(stage, place.previous, outputs[place.behind(step + 1)]);
  }
  return program;
}

plan::Program ring_reduce_scatter(const Ring& ring, std::uint32_t rank, std::uint64_t stride,
                                  std::uint64_t count) {
  const Place place(ring, rank);
  plan::Program program;
  program.slots = reduction_slots(count);
  std::vector<Region> inputs;
  for (const std::uint32_t owner : ring)
    inputs.push_back(input(owner * stride, count));
  add_reduction(program, place, inputs, output(0, count));
  return program;
}

plan::Program ring_reduce(const Ring& ring, std::uint32_t rank, std::uint32_t root, std::uint64_t count) {
  const Place place(ring, rank);
  // The chain's link: 0 is the rank after the root, n-1 the root.
  const std::uint32_t link = place.behind(position_of(ring, root) + 1) % place.size;
  plan::Program program;
  const Region own = input(0, count);
  if (place.size == 1) {
    add_fold(program.stages.emplace_back(), {own}, output(0, count));
    return program;
  }
  if (link == 0) {
    add_send(program.stages.emplace_back(), place.next, own);
    return program;
  }
  const Form form = link == 1 ? Form::raw : Form::partial;
  program.slots = {{count, form}, {count, Form::partial}};
  plan::Stage stage;
  const bool last = link + 1 == place.size;
  add_receive(stage, place.previous, slot(0, count, form));
  add_fold(stage, {slot(0, count, form), own}, last ? output(0, count) : slot(1, count, Form::partial));
  program.stages.push_back(std::move(stage));
  if (!last) add_send(program.stages.emplace_back(), place.next, slot(1, count, Form::partial));
  return program;
}

plan::Program ring_broadcast(const Ring& ring, std::uint32_t rank, std::uint32_t root, std::uint64_t count,
                             bool in_place) {
  const Place place(ring, rank);
  const std::uint32_t link = place.behind(position_of(ring, root));  // 0: the root
  const bool last = link + 1 == place.size;
  plan::Program program;
  if (link == 0) {
    plan::Stage& stage = program.stages.emplace_back();
    if (!last) add_send(stage, place.next, input(0, count));
    if (!in_place) add_fold(stage, {input(0, count)}, output(0, count));
    return program;
  }
  add_receive(program.stages.emplace_back(), place.previous, output(0, count));
  if (!last) add_send(program.stages.emplace_back(), place.next, output(0, count));
  return program;
}

}  // namespace detccl::hostnccl
