// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <cmath>

#include "fixed_math.h"
#include "random.h"

namespace trainer {
namespace {

// Weights lie as [input][output], so that the inner loops run over independent sums.
void layer_forward(const float* w, const std::vector<float>& in, std::vector<float>& out) {
  const float* bias = w + in.size() * out.size();
  std::copy(bias, bias + out.size(), out.begin());
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t o = 0; o < out.size(); ++o)
      out[o] += in[i] * w[i * out.size() + o];
  }
}

void layer_gradient(float* g, const std::vector<float>& in, const std::vector<float>& delta) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t o = 0; o < delta.size(); ++o)
      g[i * delta.size() + o] += in[i] * delta[o];
  }
  float* bias = g + in.size() * delta.size();
  for (std::size_t o = 0; o < delta.size(); ++o)
    bias[o] += delta[o];
}

/// The delta of the layer below, through its ReLU.
std::vector<float> layer_backward(const float* w, const std::vector<float>& in,
                                  const std::vector<float>& delta) {
  std::vector<float> below(in.size(), 0.0f);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] <= 0.0f) continue;
    for (std::size_t o = 0; o < delta.size(); ++o)
      below[i] += w[i * delta.size() + o] * delta[o];
  }
  return below;
}

/// Turns logits into the loss's gradient by them; returns the loss.
double softmax_loss(std::vector<float>& logits, std::size_t label, float scale) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::array<double, kClasses> e{};
  double sum = 0.0;
  for (std::size_t c = 0; c < kClasses; ++c)
    sum += e[c] = fixed_exp(logits[c] - top);
  const double loss = fixed_log(sum) - (logits[label] - top);
  for (std::size_t c = 0; c < kClasses; ++c) {
    logits[c] = static_cast<float>(e[c] / sum - (c == label ? 1.0 : 0.0)) * scale;
  }
  return loss;
}

}  // namespace

Model::Model(std::uint64_t seed) : parameters_(parameter_count(), 0.0f) {
  Random random(seed);
  for (std::size_t l = 0; l < kLayers; ++l) {
    const float limit = std::sqrt(6.0f / static_cast<float>(kWidths[l]));
    float* w = parameters_.data() + layer_offset(l);
    for (std::size_t i = 0; i < kWidths[l] * kWidths[l + 1]; ++i)
      w[i] = random.symmetric() * limit;
  }
  for (std::size_t l = 0; l <= kLayers; ++l)
    values_[l].resize(kWidths[l]);
}

std::size_t Model::layer_offset(std::size_t layer) const {
  std::size_t offset = 0;
  for (std::size_t l = 0; l < layer; ++l)
    offset += (kWidths[l] + 1) * kWidths[l + 1];
  return offset;
}

void Model::forward(const float* image) {
  std::copy(image, image + kPixels, values_[0].begin());
  for (std::size_t l = 0; l < kLayers; ++l) {
    layer_forward(parameters_.data() + layer_offset(l), values_[l], values_[l + 1]);
    if (l + 1 == kLayers) break;
    for (float& v : values_[l + 1])
      v = v > 0.0f ? v : 0.0f;
  }
}

double Model::add_gradient(const float* image, std::size_t label, float scale,
                           std::vector<float>& gradients) {
  forward(image);
  std::vector<float> delta = values_[kLayers];
  const double loss = softmax_loss(delta, label, scale);
  for (std::size_t l = kLayers; l-- > 0;) {
    layer_gradient(gradients.data() + layer_offset(l), values_[l], delta);
    if (l > 0) delta = layer_backward(parameters_.data() + layer_offset(l), values_[l], delta);
  }
  return loss;
}

std::size_t Model::classify(const float* image) {
  forward(image);
  const std::vector<float>& logits = values_[kLayers];
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

void sgd(std::vector<float>& weights, std::vector<float>& velocity, const std::vector<float>& gradients,
         std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    velocity[i] = kMomentum * velocity[i] + gradients[i];
    weights[i] -= kLearningRate * velocity[i];
  }
}

}  // namespace trainer
