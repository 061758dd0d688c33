// SPDX-License-Identifier: Apache-2.0
#include "recorder/sites.h"

#include <utility>

namespace detccl::recorder {

std::optional<SiteTable::Place> SiteTable::add(Site site) {
  const std::lock_guard lock(mutex_);
  if (free_.empty() && accumulators_ == most_) return std::nullopt;
  Place place{next_++, accumulators_};
  if (free_.empty()) {
    ++accumulators_;
  } else {
    place.accumulator = free_.back();
    free_.pop_back();
  }
  const std::uint64_t communicator = site.communicator;
  Entries& entries = site.captured ? captured_ : once_[communicator];
  if (!site.captured) communicator_of_.emplace(place.site, communicator);
  entries.emplace(place.site, Entry{std::move(site), place.accumulator, false});
  return place;
}

void SiteTable::commit(std::uint64_t site) {
  const std::lock_guard lock(mutex_);
  const auto communicator = communicator_of_.find(site);
  if (communicator == communicator_of_.end()) return;
  Entry& entry = once_[communicator->second].at(site);
  outstanding_ += entry.committed ? 0 : 1;
  entry.committed = true;
}

std::optional<Site> SiteTable::arrived(std::uint64_t site) {
  const std::lock_guard lock(mutex_);
  if (const auto captured = captured_.find(site); captured != captured_.end()) return captured->second.site;
  const auto communicator = communicator_of_.find(site);
  if (communicator == communicator_of_.end()) return std::nullopt;
  Entries& entries = once_[communicator->second];
  while (entries.begin()->first != site)
    forget(entries, entries.begin());
  std::optional<Site> found = std::move(entries.begin()->second.site);
  forget(entries, entries.begin());
  return found;
}

void SiteTable::forget(Entries& entries, Entries::iterator entry) {
  if (entry->second.committed) {
    --outstanding_;
    // Of an operation that failed half-way it may not be zero: that one is not given again.
    free_.push_back(entry->second.accumulator);
  }
  communicator_of_.erase(entry->first);
  entries.erase(entry);
}

std::size_t SiteTable::outstanding() const {
  const std::lock_guard lock(mutex_);
  return outstanding_;
}

}  // namespace detccl::recorder
