// SPDX-License-Identifier: Apache-2.0
#include "recorder/recorder.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "recorder/context.h"
#include "transport/quiet_thread.h"

namespace detccl::recorder {
namespace {

/// Records that may wait for the disk, and their tables.
constexpr std::size_t kQueue = std::size_t{1} << 16;
constexpr std::size_t kQueuedBytes = std::size_t{256} << 20;

constexpr std::chrono::milliseconds kInterval{200};

}  // namespace

Recorder::Recorder(const Options& options, const trace::RunInfo& info, Warn warn)
    : options_(options), warn_(std::move(warn)) {
  trace::WriterOptions writer;
  writer.folder = options.folder;
  writer_ = std::make_unique<trace::Writer>(writer, info);
  path_ = writer_->path();
  error_ = writer_->error();
  static_cast<void>(writer_->take_failure());  // problem() tells
  thread_ = transport::quiet_thread([this] { drain(); });
}

Recorder::~Recorder() {
  close();
}

bool Recorder::wanted() const {
  return options_.steps.contains(current_step());
}

void Recorder::add_communicator(const trace::Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  communicators_.push_back(communicator);
}

void Recorder::append(trace::Record record, std::vector<trace::ChunkTable> tables) {
  record.step = current_step();
  const int direction = record.kind == trace::Kind::send ? 1 : record.kind == trace::Kind::recv ? 2 : 0;
  const Channel channel{record.communicator, direction, direction == 0 ? 0 : record.peer};
  const std::lock_guard lock(mutex_);
  if (closing_) return;
  record.communicator_sequence = sequences_[channel]++;
  enqueue({record, current_phase(), std::move(tables)});
}

void Recorder::append_as_is(trace::Record record, std::string phase, std::vector<trace::ChunkTable> tables) {
  const std::lock_guard lock(mutex_);
  if (!closing_) enqueue({record, std::move(phase), std::move(tables)});
}

void Recorder::skip(std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  next_ += records;
  skipped_ += records;
}

void Recorder::enqueue(Item item) {
  item.record.sequence = next_++;
  std::size_t bytes = 0;
  for (trace::ChunkTable& table : item.tables) {
    table.sequence = item.record.sequence;
    bytes += table.digests.size() * sizeof(trace::Digest);
  }
  if (queue_.size() >= kQueue || (bytes != 0 && !queue_.empty() && queued_bytes_ + bytes > kQueuedBytes)) {
    ++dropped_;
    return;
  }
  queued_bytes_ += bytes;
  queue_.push_back(std::move(item));
  if (queue_.size() == 1) filled_.notify_one();
}

void Recorder::write(std::vector<Item>& items) {
  for (Item& item : items) {
    for (const trace::ChunkTable& table : item.tables)
      writer_->add_chunk_table(table);
    item.record.phase = writer_->string_number(item.phase);
    writer_->append({&item.record, 1});
  }
  writer_->tick();
}

void Recorder::warn_once(bool dropping) {
  if (!warn_) return;
  if (dropping && !std::exchange(warned_, true))
    warn_(path_ + ": the disk is too slow: records are being dropped");
  if (writer_->take_failure())
    warn_(path_ + ": " + std::strerror(writer_->error()) + ": nothing more is recorded");
}

void Recorder::drain() {
  for (bool last = false; !last;) {
    bool dropping = false;
    std::vector<Item> items;
    std::vector<trace::Communicator> communicators;
    {
      std::unique_lock lock(mutex_);
      filled_.wait_for(lock, kInterval, [this] { return closing_ || !queue_.empty(); });
      items.swap(queue_);
      queued_bytes_ = 0;
      communicators.swap(communicators_);
      dropping = dropped_ != 0;
      last = closing_;
    }
    for (const trace::Communicator& communicator : communicators)
      writer_->add_communicator(communicator);
    write(items);
    warn_once(dropping);
  }
  // Nothing is queued any more, so nothing changes it.
  writer_->end_at(next_);
  writer_->close();
  const std::lock_guard lock(mutex_);
  error_ = writer_->error();
  lost_ = writer_->lost();
}

void Recorder::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    filled_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

std::string Recorder::problem() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  if (error_ != 0)
    text = path_ + ": " + std::strerror(error_) + ", " + std::to_string(lost_) + " records are lost";
  if (dropped_ != 0) {
    text += (text.empty() ? path_ + ": " : "; ") + std::to_string(dropped_) +
            " records dropped, as the disk was too slow";
  }
  if (skipped_ != 0) {
    text += (text.empty() ? path_ + ": " : "; ") + std::to_string(skipped_) +
            " records dropped on the GPU, as the ring was full";
  }
  return text;
}

}  // namespace detccl::recorder
