// SPDX-License-Identifier: Apache-2.0
// A training step: buckets of gradients that are reduced, one after the other, as the backward pass makes
// them ready.
#pragma once

#include <string>
#include <vector>

#include "simulate/predict.h"

namespace detccl::simulate {

/// `count` buckets of one size.
struct Buckets {
  plan::Collective collective = plan::Collective::reduce_scatter;
  std::uint64_t bytes = 0;  ///< of the whole message
  double ready = 0;         ///< seconds after the backward pass has begun: the first one …
  double every = 0;         ///< … and from one to the next
  std::uint32_t count = 1;
  /// Of the communicator, which may be a part of the machine; 0: all of it. One rank a node is on one rail.
  std::uint32_t nodes = 0, gpus = 0;
};

struct Step {
  std::string name, assumed;
  contract::DataType type = contract::DataType::bfloat16;
  double forward = 0, backward = 0, optimizer = 0;  ///< seconds
  std::vector<Buckets> buckets;
};

/// Throws std::invalid_argument (the JSON is described in docs/simulate.md).
Step read_step(const std::string& json);

struct StepTime {
  double step = 0;     ///< seconds
  double reduced = 0;  ///< of reductions, hidden or not
  double exposed = 0;  ///< the step's that the backward pass does not hide
};

/// `seconds`: of one reduction of each of the step's buckets.
StepTime step_time(const Step& step, const std::vector<double>& seconds);

struct StepReport {
  Step step;
  StepTime native, ours;
  std::vector<Prediction> natives, bests;  ///< of each of the step's buckets
  double overhead() const { return ours.step / native.step - 1; }
};

/// The best schedule for each bucket. Throws std::invalid_argument where none has a prediction.
StepReport predict_step(const Step& step, const std::vector<plan::Schedule>& schedules,
                        const Options& options);

}  // namespace detccl::simulate
