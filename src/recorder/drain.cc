// SPDX-License-Identifier: Apache-2.0
#include "recorder/drain.h"

#include <algorithm>
#include <utility>

#include "recorder/chunks.h"
#include "recorder/detail.h"
#include "transport/quiet_thread.h"

namespace detccl::recorder {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kInterval{1};

trace::Digest digest_of(const fingerprint::Sums& sums, std::uint64_t bytes) {
  const fingerprint::Digest digest = fingerprint::finish(sums, bytes);
  return {digest.b, digest.a};
}

std::uint32_t duration(const Times& times) {
  if (times.ended < times.began) return trace::kNoDuration;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(times.ended - times.began, trace::kNoDuration - 1));
}

}  // namespace

Drain::Drain(RingReader reader, SiteTable& sites, Recorder& recorder, std::function<void()> warn)
    : reader_(reader), sites_(sites), recorder_(recorder), warn_(std::move(warn)) {
  thread_ = transport::quiet_thread([this] { run(); });
}

Drain::~Drain() {
  close();
}

void Drain::note_dropped(std::uint64_t dropped) {
  if (dropped <= dropped_) return;
  if (dropped_ == 0 && warn_) warn_();
  recorder_.skip(dropped - dropped_);
  dropped_ = dropped;
}

/// The payloads' sums are those of their chunks.
void Drain::add_details(const Site& site, trace::Record& record, Slot& sums,
                        std::vector<trace::ChunkTable>& tables) const {
  record.duration_ns = duration(further_in(further_.front()).times);
  for (const bool is_output : {false, true}) {
    const std::uint64_t bytes = is_output ? site.output_bytes : site.input_bytes;
    const Chunks chunks = chunks_of(bytes, recorder_.options().chunk_bytes);
    std::vector<fingerprint::Sums> each(std::min<std::uint64_t>(chunks.count, further_.size()));
    fingerprint::Sums& all = is_output ? sums.output : sums.input;
    all = {};
    for (std::size_t i = 0; i < each.size(); ++i) {
      each[i] = is_output ? further_[i].output : further_[i].input;
      all += each[i];
    }
    if (recorder_.options().chunk_bytes != 0 && bytes != 0)
      tables.push_back(chunk_table(bytes, chunks.bytes, is_output, each));
  }
}

void Drain::take(const Slot& slot) {
  note_dropped(slot.dropped);
  std::optional<Site> site = sites_.arrived(slot.site);
  if (!site) return recorder_.skip(1);
  trace::Record& record = site->record;
  record.communicator_sequence = slot.index;
  Slot sums = slot;
  std::vector<trace::ChunkTable> tables;
  if (recorder_.options().detailed()) add_details(*site, record, sums, tables);
  if ((record.flags & trace::kNoInput) == 0) record.input = digest_of(sums.input, site->input_bytes);
  if ((record.flags & trace::kNoOutput) == 0) record.output = digest_of(sums.output, site->output_bytes);
  recorder_.append_as_is(record, std::move(site->phase), std::move(tables));
}

bool Drain::next(Slot& slot) {
  return recorder_.options().detailed() ? reader_.next(slot, further_) : reader_.next(slot);
}

bool Drain::take_all() {
  Slot slot;
  std::uint64_t taken = 0;
  for (; next(slot); ++taken)
    take(slot);
  taken_ += taken;
  return taken != 0;
}

void Drain::run() {
  while (!closing_) {
    if (!take_all()) std::this_thread::sleep_for(kInterval);
  }
  take_all();
  note_dropped(reader_.dropped());
}

void Drain::close(milliseconds patience) {
  if (!thread_.joinable()) return;
  std::uint64_t seen = taken_;
  auto moved = steady_clock::now();
  while (sites_.outstanding() > 0 && steady_clock::now() - moved < patience) {
    std::this_thread::sleep_for(kInterval);
    if (taken_ != seen) moved = steady_clock::now();
    seen = taken_;
  }
  closing_ = true;
  thread_.join();
}

}  // namespace detccl::recorder
