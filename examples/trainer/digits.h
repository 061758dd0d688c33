// SPDX-License-Identifier: Apache-2.0
// The handwritten digits, and which of them a rank sees in which step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainer {

inline constexpr std::size_t kPixels = 64;
inline constexpr std::size_t kClasses = 10;

struct Digits {
  std::vector<float> pixels;         ///< count() x kPixels, in [0, 1]
  std::vector<std::uint8_t> labels;  ///< count()
  std::size_t count() const { return labels.size(); }
  const float* image(std::size_t i) const { return pixels.data() + i * kPixels; }
};

/// Reads lines of 64 pixels (0 … 16) and a label. Throws std::runtime_error, naming the file and line.
Digits read_digits(const std::string& path);

/// Walks through shuffled images, a new order in each epoch. A pure function of seed and position, so that a
/// resumed run and any number of ranks find the same images.
class Sampler {
 public:
  Sampler(std::uint64_t seed, std::size_t images) : seed_(seed), images_(images) {}

  /// The image at `position`, counted from the start of training over all ranks.
  std::size_t image_at(std::uint64_t position);

 private:
  void shuffle(std::uint64_t epoch);

  std::uint64_t seed_;
  std::size_t images_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace trainer
