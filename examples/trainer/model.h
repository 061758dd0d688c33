// SPDX-License-Identifier: Apache-2.0
// A perceptron 64-128-64-10 with ReLU and softmax cross-entropy, in float32 on the host. All loops have a
// fixed order and no contraction, so the bits depend on the inputs only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "digits.h"

namespace trainer {

inline constexpr std::array<std::size_t, 4> kWidths{kPixels, 128, 64, kClasses};
inline constexpr std::size_t kLayers = kWidths.size() - 1;

/// Weights and biases of all layers, one after the other.
constexpr std::size_t parameter_count() {
  std::size_t total = 0;
  for (std::size_t l = 0; l < kLayers; ++l)
    total += (kWidths[l] + 1) * kWidths[l + 1];
  return total;
}

class Model {
 public:
  /// Uniform weights by He, zero biases.
  explicit Model(std::uint64_t seed);

  std::vector<float>& parameters() { return parameters_; }
  const std::vector<float>& parameters() const { return parameters_; }

  /// Adds the image's gradient, times `scale`, to `gradients` (parameter_count() values); returns its loss.
  double add_gradient(const float* image, std::size_t label, float scale, std::vector<float>& gradients);

  /// The most likely class.
  std::size_t classify(const float* image);

 private:
  void forward(const float* image);
  std::size_t layer_offset(std::size_t layer) const;

  std::vector<float> parameters_;
  /// The values that each layer gives, after ReLU but for the last; [0] is the image.
  std::array<std::vector<float>, kLayers + 1> values_;
};

/// SGD with momentum over the elements [begin, end): v = momentum v + g; w = w - rate v.
void sgd(std::vector<float>& weights, std::vector<float>& velocity, const std::vector<float>& gradients,
         std::size_t begin, std::size_t end);

inline constexpr float kLearningRate = 0.05f;
inline constexpr float kMomentum = 0.9f;

}  // namespace trainer
