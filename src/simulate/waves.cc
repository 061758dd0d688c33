// SPDX-License-Identifier: Apache-2.0
#include "simulate/waves.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/stream/lanes.h"
#include "simulate/closed_forms.h"

namespace detccl::simulate {
namespace {

/// The tasks of a call, in their order: shapes by number.
struct Call {
  std::vector<plan::Spec> shapes;
  std::vector<std::size_t> tasks;
  std::uint64_t task_bytes = 0, wave_bytes = 0;
};

Call call_of(const Case& c, std::uint32_t ranks, const engine::Settings& settings) {
  const bool scatter = c.collective == plan::Collective::reduce_scatter;
  plan::Spec spec;
  spec.collective = c.collective;
  spec.schedule = settings.schedule.value();
  spec.contract = settings.contract;
  spec.ranks = ranks;
  const std::uint64_t size = contract::size_of(c.type);
  const std::uint64_t count = std::max<std::uint64_t>(c.bytes / size / (scatter ? ranks : 1), 1);
  const std::uint64_t most = engine::chunk_elements(settings, c.collective, spec.schedule, ranks, c.type);
  const std::uint64_t chunks = (count + most - 1) / most;
  spec.count = (count + chunks - 1) / chunks;
  spec.stride = scatter ? count : 0;
  if (const auto wrong = plan::check(spec)) throw std::invalid_argument(std::string(*wrong));

  Call call;
  for (const plan::Piece& piece : plan::pieces(spec))
    call.shapes.push_back(piece.spec);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
    for (std::size_t shape = 0; shape < call.shapes.size(); ++shape)
      call.tasks.push_back(shape);
  const plan::Spec& first = call.shapes.front();
  call.task_bytes = first.count * size * (first.collective == plan::Collective::reduce_scatter ? ranks : 1);
  call.wave_bytes = engine::wanted_chunk(settings, spec.schedule);
  return call;
}

std::vector<std::vector<std::size_t>> group(const Call& call, std::size_t scratch, std::size_t most) {
  const std::size_t fit = scratch == 0 ? call.tasks.size() : std::max<std::size_t>(most / scratch, 1);
  const std::size_t each =
      std::clamp<std::size_t>(call.wave_bytes / std::max<std::uint64_t>(call.task_bytes, 1), 1, fit);
  std::vector<std::vector<std::size_t>> waves;
  for (std::size_t i = 0; i < call.tasks.size(); ++i) {
    if (i % each == 0) waves.emplace_back();
    waves.back().push_back(call.tasks[i]);
  }
  return waves;
}

std::size_t largest_scratch(const std::vector<Shape>& shapes) {
  std::size_t most = 0;
  for (const Shape& shape : shapes)
    most = std::max(most, shape.scratch);
  return most;
}

/// All shapes' ticks: `latency` as in engine::stream::timetables().
std::vector<Shape> shapes_of(const Call& call, contract::DataType type, std::uint32_t latency) {
  std::vector<Shape> shapes;
  for (const plan::Spec& spec : call.shapes)
    shapes.push_back(shape_of(spec, type, latency));
  return shapes;
}

}  // namespace

std::uint64_t expected_messages(const Case& c, std::uint32_t ranks, const engine::Settings& settings) {
  const Call call = call_of(c, ranks, settings);
  // Between all pairs in every stage: no need to build the programs to see that.
  if (has_closed_form(*settings.schedule)) return std::uint64_t{ranks} * ranks * call.tasks.size();
  std::uint64_t sum = 0;
  std::vector<std::uint32_t> peers;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const plan::Stage& stage : plan::build(call.shapes.front(), rank).stages) {
      peers.clear();
      for (const plan::Transfer& t : stage.sends)
        peers.push_back(t.peer);
      std::sort(peers.begin(), peers.end());
      sum += static_cast<std::uint64_t>(std::unique(peers.begin(), peers.end()) - peers.begin());
    }
  }
  return sum * call.tasks.size();
}

Waves arrange(const Case& c, std::uint32_t ranks, const engine::Settings& settings) {
  const Call call = call_of(c, ranks, settings);
  Waves waves;
  waves.shapes = shapes_of(call, c.type, 1);
  const std::size_t scratch = largest_scratch(waves.shapes);
  if (settings.lanes > 1) {
    waves.tasks = group(call, scratch, engine::stream::lane_scratch(settings.scratch_limit, settings.lanes));
    waves.lanes = static_cast<std::uint32_t>(std::min<std::size_t>(settings.lanes, waves.tasks.size()));
    for (const Shape& shape : waves.shapes)
      waves.interval = std::max(waves.interval, shape.length);
    return waves;
  }
  waves.tasks = group(call, scratch, settings.scratch_limit);
  if (waves.tasks.size() == 1) return waves;
  waves.tasks = group(call, scratch, settings.scratch_limit / 2);
  waves.overlapped = true;
  waves.shapes = shapes_of(call, c.type, 2);
  std::uint32_t life = 1;
  for (const Shape& shape : waves.shapes)
    life = std::max(life, call.shapes.size() > 1 ? shape.length : shape.life);
  const std::size_t lane = scratch * waves.tasks.front().size();
  std::size_t lanes = std::min<std::size_t>(waves.tasks.size(), life);
  if (lane != 0) lanes = std::clamp<std::size_t>(settings.scratch_limit / lane, 1, lanes);
  waves.interval = static_cast<std::uint32_t>((life + lanes - 1) / lanes);
  return waves;
}

}  // namespace detccl::simulate
