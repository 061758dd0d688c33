// SPDX-License-Identifier: Apache-2.0
#include "recorder/context.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <vector>

#include "trace/record.h"

namespace detccl::recorder {
namespace {

std::atomic<std::uint32_t> step{trace::kNoStep};
std::atomic<void (*)(std::uint32_t)> step_listener{nullptr};

/// Ranges deeper than this are counted, but not named.
constexpr std::size_t kMaxDepth = 32;

struct Ranges {
  std::string path, marked;
  std::vector<std::size_t> lengths;  ///< of the path before each range
  std::size_t unnamed = 0;
};

Ranges& ranges() {
  thread_local Ranges own;
  return own;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

void set_step(std::uint32_t value) {
  step = value;
  if (const auto listener = step_listener.load(); listener != nullptr) listener(value);
}

void set_step_listener(void (*listener)(std::uint32_t step)) {
  step_listener = listener;
}

std::uint32_t current_step() {
  return step;
}

std::optional<std::uint32_t> step_in(std::string_view name) {
  constexpr std::array<std::string_view, 5> kWords = {"profilerstep", "train_step", "iteration", "step",
                                                      "iter"};
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1]))
    --digits;
  if (digits == name.size()) return std::nullopt;
  std::size_t word = digits;
  while (word > 0 && std::string_view(" #:_=-").find(name[word - 1]) != std::string_view::npos)
    --word;
  std::string text(name.substr(0, word));
  std::transform(text.begin(), text.end(), text.begin(), lower);
  if (std::find(kWords.begin(), kWords.end(), text) == kWords.end()) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (error != std::errc{} || number == trace::kNoStep) return std::nullopt;
  return number;
}

void push_range(std::string_view name) {
  Ranges& own = ranges();
  const auto number = step_in(name);
  if (number) set_step(*number);
  if (own.lengths.size() == kMaxDepth) {
    ++own.unnamed;
    return;
  }
  own.lengths.push_back(own.path.size());
  if (number) return;  // the record has the step: a phase is the same one in every step
  if (!own.path.empty()) own.path += '/';
  own.path += name;
}

void pop_range() {
  Ranges& own = ranges();
  if (own.unnamed > 0) {
    --own.unnamed;
  } else if (!own.lengths.empty()) {
    own.path.resize(own.lengths.back());
    own.lengths.pop_back();
  }
}

const std::string& current_phase() {
  const Ranges& own = ranges();
  return own.path.empty() ? own.marked : own.path;
}

void set_phase(std::string_view phase) {
  ranges().marked = phase;
}

}  // namespace detccl::recorder
