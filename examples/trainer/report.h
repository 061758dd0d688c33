// SPDX-License-Identifier: Apache-2.0
// What rank 0 prints.
#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "training.h"

namespace trainer {

struct Result {
  std::vector<Step> steps;
  std::uint64_t digest = 0;
  double accuracy = 0.0;
  double seconds = 0.0;  ///< of the training loop
  int ranks = 0;
  std::string device, nccl;
};

/// "step 12 loss 0x1.2p-3 weights 0123456789abcdef"
std::string step_line(const Step& step);
/// The closing line.
std::string summary(const Result& result);
/// The whole run as one JSON document; with options.quiet, without the steps.
std::string json(const Result& result, const Options& options);

}  // namespace trainer
