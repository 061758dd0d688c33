// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "cli/doctor/watch.h"

namespace detccl::cli {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

int number(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Process& Processes::current(int pid, int parent) {
  const auto last = [this](int wanted) {
    return std::find_if(all_.rbegin(), all_.rend(), [=](const Process& p) { return p.pid == wanted; });
  };
  if (const auto known = last(pid); known != all_.rend()) return *known;
  // A fork that has not become another program: it has what its parent has.
  Process process{.pid = pid, .parent = parent, .objects = {}, .binds = {}};
  if (const auto forked_from = last(parent); forked_from != all_.rend())
    process.objects = forked_from->objects;
  return all_.emplace_back(std::move(process));
}

bool Processes::take(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() < 3) return false;
  const int pid = number(fields[1]), parent = number(fields[2]);
  if (fields[0] == "start") all_.push_back({.pid = pid, .parent = parent, .objects = {}, .binds = {}});
  if (fields[0] == "object" && fields.size() == 4) current(pid, parent).objects.push_back(fields[3]);
  if (fields[0] != "bind" || fields.size() != 7) return false;
  last_bind_ = {
      .looked_up = fields[3] == "looked-up", .name = fields[4], .caller = fields[5], .function = fields[6]};
  current(pid, parent).binds.push_back(last_bind_);
  return true;
}

}  // namespace detccl::cli
