// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/movement_programs.h"

namespace detccl::hostnccl {
namespace {

using plan::Region;

Region input(std::uint64_t block, std::uint64_t count) {
  return {block * count, count, 0, plan::Buffer::input, plan::Form::raw};
}

Region output(std::uint64_t block, std::uint64_t count) {
  return {block * count, count, 0, plan::Buffer::output, plan::Form::final};
}

void add_copy(plan::Stage& stage, const Region& from, const Region& to) {
  stage.folds.push_back({{from}, to});
}

/// The `step`-th peer to send to: ranks start with different ones.
std::uint32_t after(const Blocks& b, std::uint32_t step) {
  return (b.rank + step) % b.size;
}

}  // namespace

plan::Program direct_all_gather(const Blocks& b) {
  plan::Program program;
  plan::Stage& stage = program.stages.emplace_back();
  for (std::uint32_t step = 1; step < b.size; ++step) {
    const std::uint32_t to = after(b, step), from = after(b, b.size - step);
    stage.sends.push_back({input(0, b.count), to});
    stage.receives.push_back({output(from, b.count), from});
  }
  if (!b.in_place) add_copy(stage, input(0, b.count), output(b.rank, b.count));
  return program;
}

plan::Program direct_all_to_all(const Blocks& b) {
  plan::Program program;
  plan::Stage& stage = program.stages.emplace_back();
  for (std::uint32_t step = 1; step < b.size; ++step) {
    const std::uint32_t to = after(b, step), from = after(b, b.size - step);
    stage.sends.push_back({input(to, b.count), to});
    stage.receives.push_back({output(from, b.count), from});
  }
  if (!b.in_place) add_copy(stage, input(b.rank, b.count), output(b.rank, b.count));
  return program;
}

plan::Program direct_gather(const Blocks& b, std::uint32_t root) {
  plan::Program program;
  plan::Stage& stage = program.stages.emplace_back();
  if (b.rank != root) {
    stage.sends.push_back({input(0, b.count), root});
    return program;
  }
  for (std::uint32_t step = 1; step < b.size; ++step) {
    stage.receives.push_back({output(after(b, step), b.count), after(b, step)});
  }
  if (!b.in_place) add_copy(stage, input(0, b.count), output(root, b.count));
  return program;
}

plan::Program direct_scatter(const Blocks& b, std::uint32_t root) {
  plan::Program program;
  plan::Stage& stage = program.stages.emplace_back();
  if (b.rank != root) {
    stage.receives.push_back({output(0, b.count), root});
    return program;
  }
  for (std::uint32_t step = 1; step < b.size; ++step) {
    stage.sends.push_back({input(after(b, step), b.count), after(b, step)});
  }
  if (!b.in_place) add_copy(stage, input(root, b.count), output(0, b.count));
  return program;
}

}  // namespace detccl::hostnccl
