// SPDX-License-Identifier: Apache-2.0
#include "cli/report_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace detccl::cli {
namespace {

/// The element of `list` for which `is` is true, or a new one at its end.
template <class T, class Is>
T& find_or_add(std::vector<T>& list, Is is) {
  const auto found = std::find_if(list.begin(), list.end(), is);
  return found != list.end() ? *found : list.emplace_back();
}

/// A series while it is not known whether its file must be told.
struct Origin {
  std::string heading, setting, label;
};

std::string label_of(const Sweep& sweep, const SweepRow& row) {
  return row.schedule + (sweep.settings.empty() ? "" : ", " + sweep.settings);
}

Origin origin_of(const Sweep& sweep, const SweepRow& row) {
  return {.heading = fmt::format("{}, {} ranks, {}, {}", sweep.collective, sweep.ranks, row.datatype, row.op),
          .setting = fmt::format("{}{}; {}; contract {}", sweep.where,
                                 sweep.driver.empty() ? "" : ", driver " + sweep.driver, sweep.versions,
                                 sweep.contract),
          .label = label_of(sweep, row)};
}

/// Whether another file has rows for the same line of the same chart.
bool is_elsewhere(const std::vector<Sweep>& sweeps, const std::string& file, const Origin& origin) {
  for (const Sweep& sweep : sweeps) {
    if (sweep.file == file) continue;
    for (const SweepRow& row : sweep.rows) {
      const Origin other = origin_of(sweep, row);
      if (other.heading == origin.heading && other.setting == origin.setting && other.label == origin.label)
        return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Group> groups_of(const std::vector<Sweep>& sweeps) {
  std::vector<Group> groups;
  for (const Sweep& sweep : sweeps) {
    for (const SweepRow& row : sweep.rows) {
      const Origin origin = origin_of(sweep, row);
      Group& group = find_or_add(groups, [&](const Group& g) {
        return g.heading == origin.heading && g.setting == origin.setting && g.peer == sweep.peer;
      });
      group.heading = origin.heading;
      group.setting = origin.setting;
      group.peer = sweep.peer;
      std::string label = origin.label;
      if (is_elsewhere(sweeps, sweep.file, origin))
        label += ", " + std::filesystem::path(sweep.file).filename().string();
      GroupSeries& series = find_or_add(group.series, [&](const GroupSeries& s) { return s.label == label; });
      series.label = label;
      series.rows.push_back(row);
    }
  }
  for (Group& group : groups)
    for (GroupSeries& series : group.series)
      std::stable_sort(series.rows.begin(), series.rows.end(),
                       [](const SweepRow& a, const SweepRow& b) { return a.bytes < b.bytes; });
  return groups;
}

}  // namespace detccl::cli
