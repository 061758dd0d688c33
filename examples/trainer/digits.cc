// SPDX-License-Identifier: Apache-2.0
#include "digits.h"

#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "random.h"

namespace trainer {
namespace {

void parse_line(const std::string& line, Digits& digits) {
  std::istringstream fields(line);
  for (std::size_t i = 0; i <= kPixels; ++i) {
    unsigned value = 0;
    char comma = ',';
    if (i > 0) fields >> comma;
    fields >> value;
    if (!fields || comma != ',' || value > (i < kPixels ? 16u : kClasses - 1u)) {
      throw std::runtime_error("field " + std::to_string(i + 1) + " is missing or out of range");
    }
    if (i < kPixels) {
      digits.pixels.push_back(static_cast<float>(value) / 16.0f);
    } else {
      digits.labels.push_back(static_cast<std::uint8_t>(value));
    }
  }
}

}  // namespace

Digits read_digits(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the images in '" + path + "' (--data)");
  Digits digits;
  std::string line;
  while (std::getline(file, line)) {
    try {
      parse_line(line, digits);
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(path + ", line " + std::to_string(digits.count() + 1) + ": " + e.what());
    }
  }
  return digits;
}

std::size_t Sampler::image_at(std::uint64_t position) {
  const std::uint64_t epoch = position / images_;
  if (order_.empty() || epoch != epoch_) shuffle(epoch);
  return order_[position % images_];
}

void Sampler::shuffle(std::uint64_t epoch) {
  epoch_ = epoch;
  order_.resize(images_);
  std::iota(order_.begin(), order_.end(), 0u);
  Random random(Random(seed_).next() ^ epoch);
  for (std::size_t i = images_ - 1; i > 0; --i)
    std::swap(order_[i], order_[random.below(i + 1)]);
}

}  // namespace trainer
