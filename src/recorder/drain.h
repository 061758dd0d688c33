// SPDX-License-Identifier: Apache-2.0
// Joins the records of one device with what the host knows of them, and hands them to the recorder.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "recorder/recorder.h"
#include "recorder/ring_reader.h"
#include "recorder/sites.h"

namespace detccl::recorder {

/// Has a thread of its own, which looks at the ring every millisecond and calls nothing of CUDA. Records
/// reach the recorder in the order of the ring's slots.
class Drain {
 public:
  /// `warn`: called once, when the first record is dropped.
  Drain(RingReader reader, SiteTable& sites, Recorder& recorder, std::function<void()> warn);
  ~Drain();  ///< close()
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  /// Waits for operations that are still under way, as long as records come, and ends the thread.
  void close(std::chrono::milliseconds patience = std::chrono::milliseconds(1000));

 private:
  void run();
  bool take_all();
  bool next(Slot& slot);
  void take(const Slot& slot);
  void add_details(const Site& site, trace::Record& record, Slot& sums,
                   std::vector<trace::ChunkTable>& tables) const;
  void note_dropped(std::uint64_t dropped);

  RingReader reader_;
  SiteTable& sites_;
  Recorder& recorder_;
  std::function<void()> warn_;
  std::vector<Slot> further_;  ///< of the record that is being taken
  std::uint64_t dropped_ = 0;  ///< told to the recorder
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> closing_{false};
  std::thread thread_;
};

}  // namespace detccl::recorder
