// SPDX-License-Identifier: Apache-2.0
#include "recorder/drain.h"

#include <utility>

#include "recorder/quiet_thread.h"

namespace detccl::recorder {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kInterval{1};

trace::Digest digest_of(const fingerprint::Sums& sums, std::uint64_t bytes) {
  const fingerprint::Digest digest = fingerprint::finish(sums, bytes);
  return {digest.b, digest.a};
}

}  // namespace

Drain::Drain(RingReader reader, SiteTable& sites, Recorder& recorder, std::function<void()> warn)
    : reader_(reader), sites_(sites), recorder_(recorder), warn_(std::move(warn)) {
  thread_ = quiet_thread([this] { run(); });
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

void Drain::take(const Slot& slot) {
  note_dropped(slot.dropped);
  std::optional<Site> site = sites_.arrived(slot.site);
  if (!site) return recorder_.skip(1);
  trace::Record& record = site->record;
  record.communicator_sequence = slot.index;
  if ((record.flags & trace::kNoInput) == 0) record.input = digest_of(slot.input, site->input_bytes);
  if ((record.flags & trace::kNoOutput) == 0) record.output = digest_of(slot.output, site->output_bytes);
  recorder_.append_as_is(record, std::move(site->phase));
}

bool Drain::take_all() {
  Slot slot;
  std::uint64_t taken = 0;
  for (; reader_.next(slot); ++taken)
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
