// SPDX-License-Identifier: Apache-2.0
// Takes records from the threads that hand operations over, and writes them to the rank's trace file in a
// thread of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "trace/writer.h"

namespace detccl::recorder {

/// Which steps are recorded; operations before the first step only where `first` is 0.
struct StepWindow {
  std::uint32_t first = 0, last = trace::kNoStep;
  bool contains(std::uint32_t step) const {
    return step == trace::kNoStep ? first == 0 : first <= step && step <= last;
  }
};

struct Options {
  std::string folder;
  StepWindow steps;
  std::size_t chunk_bytes = 0;  ///< of the chunk tables, a multiple of 16; 0: none
  bool times = false;           ///< also on GPUs: how long operations take

  /// Whether a GPU's records are detailed (detail.h).
  bool detailed() const { return times || chunk_bytes != 0; }
};

/// Any thread.
class Recorder {
 public:
  using Warn = std::function<void(const std::string& line)>;

  /// `warn`: told once when records begin to be dropped, and once when the file can take no more; in the
  /// recorder's thread. What is wrong from the beginning, problem() says at once.
  Recorder(const Options& options, const trace::RunInfo& info, Warn warn = {});
  ~Recorder();  ///< close()
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const Options& options() const { return options_; }
  /// Whether what is handed over now is in the window of steps.
  bool wanted() const;

  void add_communicator(const trace::Communicator& communicator);

  /// Completes the record (sequences, step, the calling thread's phase) and queues it. Tables belong to it;
  /// their sequence is set. A queue that is full drops it: the file has a gap then.
  void append(trace::Record record, std::vector<trace::ChunkTable> tables = {});

  /// Queues a record that is complete but for its place in the file and the phase's number; tables as in
  /// append().
  void append_as_is(trace::Record record, std::string phase, std::vector<trace::ChunkTable> tables = {});
  /// So many records were lost on their way here: the file has a gap.
  void skip(std::uint64_t records);

  /// Writes out what is queued and closes the file. Nothing is taken afterwards.
  void close();

  /// One line about what went wrong, or how many records were dropped; empty if all is well. After close().
  std::string problem() const;
  const std::string& path() const { return path_; }

 private:
  struct Item {
    trace::Record record;
    std::string phase;
    std::vector<trace::ChunkTable> tables;
  };
  using Channel = std::tuple<std::uint64_t, int, std::uint32_t>;  ///< communicator, direction, peer

  void enqueue(Item item);
  void drain();
  void write(std::vector<Item>& items);
  void warn_once(bool dropping);

  const Options options_;
  const Warn warn_;
  bool warned_ = false;                    ///< that records are dropped; the drain thread's
  std::unique_ptr<trace::Writer> writer_;  ///< the drain thread's, once it runs
  std::string path_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<Item> queue_;
  std::size_t queued_bytes_ = 0;                    ///< of the tables in it
  std::vector<trace::Communicator> communicators_;  ///< to be written
  std::map<Channel, std::uint64_t> sequences_;
  std::uint64_t next_ = 0, dropped_ = 0, skipped_ = 0;
  std::uint64_t lost_ = 0;
  int error_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace detccl::recorder
