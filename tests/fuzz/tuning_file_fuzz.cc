// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any text as a tuning file; what is accepted is written, read as the same, and can be chosen by.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "plan/tuner/cost.h"
#include "plan/tuner/file.h"

namespace {

using namespace detccl::plan;

void require(bool good) {
  if (!good) __builtin_trap();
}

}  // namespace

// NOLINTNEXTLINE: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tuner::Coefficients c;
  try {
    c = tuner::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const std::invalid_argument& e) {
    require(*e.what() != '\0');
    return 0;
  }
  const tuner::Coefficients again = tuner::parse(tuner::write(c));
  require(tuner::hash(tuner::parse(tuner::write(again))) == tuner::hash(again));
  const tuner::Question q{.ranks = 12, .group = 4, .bytes = std::uint64_t{1} << 30};
  for (const Schedule& schedule : {Schedule::gather, Schedule::direct, Schedule::tree, Schedule::halving,
                                   hier(Kind::direct, Kind::halving, 4)})
    require(std::isfinite(tuner::predict(q, schedule, 4096, c).total()));
  return 0;
}
