// SPDX-License-Identifier: Apache-2.0
// The cost model: how long a collective takes by a schedule and a chunk size, term by term. Additions,
// multiplications, divisions and comparisons only, each rounded as IEEE 754 says, so that all ranks get the
// same numbers whatever their processors are.
#pragma once

#include "plan/tuner/coefficients.h"
#include "plan/tuner/work.h"

namespace detccl::plan::tuner {

/// Seconds.
struct Terms {
  double call = 0;
  double launch = 0;   ///< steps and messages
  double latency = 0;  ///< first bytes under way
  double near = 0;     ///< bytes within groups …
  double far = 0;      ///< … and between them
  double fold = 0;
  double hidden = 0;  ///< of the above, what happens at the same time as something else
  double total() const { return call + launch + latency + near + far + fold - hidden; }
};

/// `chunk`: payload bytes, at least one element's (reduce_scatter: of all shards). Over one rank: nothing but
/// the call.
Terms predict(const Question& question, const Schedule& schedule, double chunk, const Coefficients& c);

}  // namespace detccl::plan::tuner
