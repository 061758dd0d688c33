// SPDX-License-Identifier: Apache-2.0
// How schedules name memory.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace detccl::plan::schedules {

inline Region input(std::uint64_t offset, std::uint64_t count) {
  return {offset, count, 0, Buffer::input, Form::raw};
}

inline Region output(std::uint64_t offset, std::uint64_t count) {
  return {offset, count, 0, Buffer::output, Form::final};
}

/// A new scratch slot of `program`, all of it.
inline Region scratch(Program& program, Form form, std::uint64_t count) {
  program.slots.push_back({count, form});
  return {0, count, static_cast<std::uint32_t>(program.slots.size() - 1), Buffer::scratch, form};
}

/// Whether `rank` gets the result: everyone except in a reduce, where only the root does.
inline bool has_output(const Spec& spec, std::uint32_t rank) {
  return spec.collective != Collective::reduce || rank == spec.root;
}

/// Where `rank` puts the result of the whole message: the output, or scratch if it has none.
inline Region result_place(Program& program, const Spec& spec, std::uint32_t rank) {
  return has_output(spec, rank) ? output(0, spec.count) : scratch(program, Form::final, spec.count);
}

}  // namespace detccl::plan::schedules
