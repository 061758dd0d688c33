// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>

#include "event.h"
#include "settings.h"

namespace detccl::profiler {
namespace {

struct InUse {
  std::atomic<const EventSet*> events;
  std::atomic<std::uint64_t> period;
  std::atomic<bool> controlled{false};  ///< the file has been there
  std::mutex mutex;                     ///< of what follows
  std::string text;                     ///< the file's, as it was taken over
};

InUse& in_use() {
  // Never destroyed: threads of NCCL may call until the very end.
  static InUse& the_settings = []() -> InUse& {
    auto& made = *new InUse;
    made.events = settings().events;
    made.period = settings().period;
    return made;
  }();
  return the_settings;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

struct Wanted {
  const EventSet* events;
  std::uint64_t period;
};

/// A line of the file; what is wrong with it, or nothing.
std::string take_line(const std::string& line, Wanted& wanted) {
  const std::size_t equals = line.find('=');
  const std::string name = trimmed(line.substr(0, equals));
  const std::string value = equals == std::string::npos ? "" : trimmed(line.substr(equals + 1));
  if (name == "events") {
    const EventSet* events = find_events(value);
    if (events == nullptr)
      return fmt::format("events='{}' is not allowed; allowed: {}", value, kAllowedEvents);
    wanted.events = events;
  } else if (name == "period") {
    if (!parse_period(value, wanted.period))
      return fmt::format("period='{}' is not allowed; allowed: {}", value, kAllowedPeriods);
  } else {
    return fmt::format("'{}' is nothing that can be changed; events and period can", name);
  }
  return {};
}

void take_over(const std::string& text) {
  Wanted wanted{settings().events, settings().period};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string statement = trimmed(line.substr(0, line.find('#')));
    if (statement.empty()) continue;
    if (const std::string problem = take_line(statement, wanted); !problem.empty())
      say(fmt::format("{}/control: {}", settings().folder, problem));
  }
  in_use().events = wanted.events;
  in_use().period = wanted.period;
}

}  // namespace

std::uint64_t recorded() {
  return in_use().events.load(std::memory_order_relaxed)->mask;
}

std::uint64_t asked() {
  const std::uint64_t kinds = recorded();
  // Once there has been a file, there may be another: without any event its change would never be seen.
  if (kinds == 0 && in_use().controlled.load(std::memory_order_relaxed)) return abi::group;
  return kinds;
}

std::uint64_t period() {
  return in_use().period.load(std::memory_order_relaxed);
}

const char* events_in_use() {
  return in_use().events.load()->name;
}

void look_at_control() noexcept {
  try {
    InUse& current = in_use();
    const std::lock_guard lock(current.mutex);
    std::ifstream file(settings().folder + "/control");
    std::string text;
    if (file) {
      text.assign(std::istreambuf_iterator<char>(file), {});
      current.controlled = true;
    }
    if (text == current.text) return;
    current.text = text;
    take_over(text);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "detccl profiler: control: %s\n", e.what());
  }
}

}  // namespace detccl::profiler
