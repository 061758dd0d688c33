// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/teller.h"

#include <array>
#include <atomic>
#include <exception>
#include <string>

#include "recorder/context.h"

namespace detccl::nccl_api {
namespace {

std::atomic<profile::Observer> the_observer{nullptr};

/// As NCCL's profiler calls them.
const char* function_name(plan::Collective collective) {
  constexpr std::array kNames = {"AllReduce", "ReduceScatter", "Reduce"};
  return kNames[static_cast<std::size_t>(collective)];
}
const char* type_name(contract::DataType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < profile::kTypeNames.size() ? profile::kTypeNames[number] : "Unknown";
}

void tell_step(std::uint32_t step) {
  profile::Operation operation;
  operation.count = step;
  if (const profile::Observer to = the_observer; to != nullptr) to(&operation, profile::Moment::stepped, 0);
}

}  // namespace

void set_observer(profile::Observer observer) {
  the_observer = observer;
  recorder::set_step_listener(observer == nullptr ? nullptr : tell_step);
}

profile::Observer observer() {
  return the_observer;
}

Teller::~Teller() {
  tell({}, profile::Moment::ended);
}

std::string Teller::schedule_of(const engine::Reduction& call) {
  if (nodes_ && nodes_->takes(call)) return nodes_->name();
  return peer_ ? "peer" : plan::name(chooser_.choose(call).schedule);
}

void Teller::tell(const engine::Reduction& call, profile::Moment moment, std::uint64_t nanoseconds,
                  profile::Operation more) {
  const profile::Observer to = the_observer;
  if (to == nullptr) return;
  try {
    const std::string schedule = moment == profile::Moment::ended ? "" : schedule_of(call);
    more.rank = static_cast<std::int32_t>(rank_);
    more.ranks = static_cast<std::int32_t>(ranks_);
    more.communicator = communicator_;
    more.function = function_name(call.collective);
    more.datatype = type_name(call.type);
    more.schedule = schedule.c_str();
    more.count = call.count;
    to(&more, moment, nanoseconds);
  } catch (const std::exception&) {  // memory ran out: not told
  }
}

}  // namespace detccl::nccl_api
