// SPDX-License-Identifier: Apache-2.0
// What the host knows of an operation when it is handed over, kept until its record arrives from the device.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/record.h"

namespace detccl::recorder {

struct Site {
  trace::Record record;  ///< all but sequences and digests
  std::string phase;
  std::uint64_t communicator = 0;  ///< any number that no other communicator of the table has
  std::uint64_t input_bytes = 0, output_bytes = 0;
  bool captured = false;  ///< in a graph: any number of records, until the process ends
};

/// The sites of one device. Operations of a communicator are added in the order in which they run. Any
/// thread.
class SiteTable {
 public:
  struct Place {
    std::uint64_t site = 0;
    std::uint32_t accumulator = 0;  ///< a number; those that are no longer used are given again
  };
  /// Nothing where `most` accumulators are in use.
  explicit SiteTable(std::uint32_t most) : most_(most) {}
  std::optional<Place> add(Site site);
  /// The operation is on its stream: a record will come.
  void commit(std::uint64_t site);

  /// The site of a record that has arrived. Sites of the same communicator before it that were for one
  /// record only, and have none, will not get any: they are forgotten, and so is this one, unless it was
  /// captured.
  std::optional<Site> arrived(std::uint64_t site);

  /// Operations that are under way, outside of graphs.
  std::size_t outstanding() const;

 private:
  struct Entry {
    Site site;
    std::uint32_t accumulator = 0;
    bool committed = false;
  };
  using Entries = std::map<std::uint64_t, Entry>;
  void forget(Entries& entries, Entries::iterator entry);

  const std::uint32_t most_;
  mutable std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::uint32_t accumulators_ = 0;
  std::vector<std::uint32_t> free_;
  std::map<std::uint64_t, Entries> once_;  ///< by communicator
  std::map<std::uint64_t, std::uint64_t> communicator_of_;
  Entries captured_;
  std::size_t outstanding_ = 0;
};

}  // namespace detccl::recorder
