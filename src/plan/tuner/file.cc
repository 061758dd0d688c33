// SPDX-License-Identifier: Apache-2.0
#include "plan/tuner/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace detccl::plan::tuner {
namespace {

constexpr std::string_view kFirstLine = "detccl-tuning 1", kSource = "source", kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// What someone wrote, for a message.
std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string clean(text.substr(0, kMost));
  for (char& c : clean) {
    if (c < ' ' || c > '~') c = '?';
  }
  return clean + (text.size() > kMost ? "…" : "");
}

class Reader {
 public:
  Coefficients read(std::string_view text) {
    if (text.size() > kMostFileBytes)
      throw std::invalid_argument(fmt::format("more than {} bytes", kMostFileBytes));
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number_;
      line = trimmed(line.substr(0, line.find('#')));
      if (!line.empty()) take(line);
    }
    if (!begun_) throw std::invalid_argument(fmt::format("no line '{}'", kFirstLine));
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (!seen_[i]) throw std::invalid_argument(fmt::format("'{}' is missing", figures()[i].key));
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void reject(const std::string& why) const {
    throw std::invalid_argument(fmt::format("line {}: {}", number_, why));
  }

  void take(std::string_view line) {
    if (!begun_) {
      if (line != kFirstLine) reject(fmt::format("'{}' where '{}' has to be", shown(line), kFirstLine));
      begun_ = true;
      return;
    }
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    const std::string_view key = line.substr(0, end), text = trimmed(line.substr(end));
    if (key == kSource) {
      if (!result_.source.empty()) reject("'source' for the second time");
      result_.source = text;
      return;
    }
    const auto all = figures();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Figure& f) { return f.key == key; });
    if (found == all.end()) reject(fmt::format("no key '{}'", shown(key)));
    std::size_t& seen = seen_[static_cast<std::size_t>(found - all.begin())];
    if (seen != 0) reject(fmt::format("'{}' for the second time; it is in line {} too", key, seen));
    seen = number_;
    found->of(result_) = number(*found, text);
  }

  double number(const Figure& figure, std::string_view text) const {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    // A comparison with no number is false.
    if (error != std::errc() || rest != end || !(number >= figure.least && number <= figure.most)) {
      reject(fmt::format("'{}' is '{}', which is no number from {:g} to {:g}", figure.key, shown(text),
                         figure.least, figure.most));
    }
    return number * figure.unit;
  }

  Coefficients result_;
  std::array<std::size_t, kFigures> seen_{};  ///< in which line
  std::size_t number_ = 0;
  bool begun_ = false;
};

}  // namespace

Coefficients parse(std::string_view text) {
  return Reader().read(text);
}

Coefficients read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(kMostFileBytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof() && !in) throw std::invalid_argument(path + " cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  try {
    return parse(text);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(path + ": " + e.what());
  }
}

std::string write(const Coefficients& c, std::string_view remarks) {
  std::string text = fmt::format("{}\n", kFirstLine);
  while (!remarks.empty()) {
    const std::size_t end = remarks.find('\n');
    text += fmt::format("# {}\n", remarks.substr(0, end));
    remarks.remove_prefix(end == std::string_view::npos ? remarks.size() : end + 1);
  }
  if (!c.source.empty()) text += fmt::format("source {}\n", c.source);
  for (const Figure& figure : figures())
    text += fmt::format("{} {:.6g}\n", figure.key, value(figure, c) / figure.unit);
  return text;
}

}  // namespace detccl::plan::tuner
