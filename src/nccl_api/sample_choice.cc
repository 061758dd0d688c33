// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/sample_choice.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "contract/types.h"
#include "profile/mix.h"

namespace detccl::nccl_api {

bool OneOfEvery::due() {
  if (every_ == 0) return false;
  const std::uint64_t number = asked_++;
  return number % every_ == profile::mixed(number / every_) % every_;
}

Sample SampleChoice::due(const engine::Reduction& call) {
  const bool calibration = calibrations_ != 0 && is_calibration(call);
  if (shadow_.due()) return Sample::shadow;
  return calibration ? Sample::calibration : Sample::no;
}

const char* find_sampling_obstacle(std::span<const Hello> hellos) {
  if (std::any_of(hellos.begin(), hellos.end(), [](const Hello& hello) { return hello.samples == 0; }))
    return "elsewhere";
  // A thread with several of them has to carry out their reductions together.
  std::set<std::pair<std::uint64_t, std::uint64_t>> processes;
  for (const Hello& hello : hellos)
    processes.emplace(hello.host, hello.process);
  return processes.size() == hellos.size() ? nullptr : "ranks share a process";
}

bool SampleChoice::is_calibration(const engine::Reduction& call) {
  const auto doubling = static_cast<std::uint32_t>(std::bit_width(call.count * contract::size_of(call.type)));
  const std::uint32_t its_class = static_cast<std::uint32_t>(call.collective) << 16 |
                                  static_cast<std::uint32_t>(call.type) << 8 | doubling;
  std::uint32_t& seen = seen_[its_class];
  if (seen > calibrations_) return false;
  return seen++ != 0;
}

}  // namespace detccl::nccl_api
