// SPDX-License-Identifier: Apache-2.0
// The training loop.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checkpoint.h"
#include "communicator.h"
#include "digits.h"
#include "gradients.h"
#include "model.h"
#include "options.h"

namespace trainer {

struct Step {
  std::uint64_t number = 0;  ///< from 1
  double loss = 0.0;         ///< mean over the step's images, before its update
  std::uint64_t digest = 0;  ///< of the weights after the update
};

class Training {
 public:
  /// Collective: starts anew or, as the options say, from a checkpoint. Arguments must outlive it.
  Training(Communicator& comm, const Options& options, const Digits& digits);

  /// Collective: goes on to options.steps and writes the checkpoints asked for.
  void run(const std::function<void(const Step&)>& on_step);

  std::uint64_t digest() const;
  /// The share of the test images that the model gets right.
  double accuracy();

 private:
  void resume();
  void broadcast(std::vector<float>& values);
  double local_gradients();
  double mean_over_ranks(double value);
  void save_if_due();

  Communicator& comm_;
  const Options& options_;
  const Digits& digits_;
  std::size_t train_images_;
  Sampler sampler_;
  Model model_;
  GradientExchange exchange_;
  Buffer loss_;
  std::vector<float> velocity_, gradients_;
  std::uint64_t step_ = 0;
};

/// Throws std::runtime_error on every rank if the ranks' digests differ. Collective.
void check_agreement(std::uint64_t digest);

}  // namespace trainer
