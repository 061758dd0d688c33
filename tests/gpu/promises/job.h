// SPDX-License-Identifier: Apache-2.0
// One rank of the job: its communicator, its memory, and how it meets the others (by files in a folder).
#pragma once

#include <nccl.h>

#include <memory>
#include <string>

#include "device.h"
#include "result.h"
#include "values.h"

namespace promises {

/// Throws std::runtime_error if `result` is not ncclSuccess.
void require(ncclResult_t result, const std::string& call);
void require(bool condition, const std::string& what);

constexpr ncclDataType_t nccl(DataType type) {
  return static_cast<ncclDataType_t>(type);
}

struct Settings {
  int rank = 0, ranks = 1;
  std::string folder;   ///< empty at the start, the same for all ranks
  bool native = false;  ///< no contract underneath: results are digested, not judged
  bool host = false;    ///< host memory even where there is a GPU
  int replays = 2000;   ///< of a captured graph
  int cycles = 20;      ///< of making and destroying a communicator
};

class Job {
 public:
  /// Collective, as all that follows unless it says otherwise.
  explicit Job(const Settings& settings);

  int rank() const { return settings_.rank; }
  int ranks() const { return settings_.ranks; }
  bool native() const { return settings_.native; }
  int replays() const { return settings_.replays; }
  int cycles() const { return settings_.cycles; }
  const Contract& contract() const { return contract_; }
  Device& device() { return *device_; }
  ncclComm_t comm() const { return comm_; }

  ncclUniqueId unique_id();
  /// A further communicator of all ranks.
  ncclComm_t new_communicator(int blocking = 1);
  void barrier();
  void finish();

  /// `bytes` of memory until the next case, aligned to 256 bytes. Not collective.
  std::byte* take(std::size_t bytes);
  void start_case(Result& result);
  /// Ends a case, which an exception may have ended on this rank. If on any, all get a new communicator and
  /// go on; throws if others do not come, as they wait for this rank in the middle of the case.
  void end_case(bool thrown);

  /// Counts a check of `got`, elements first … of the reduction's result, and adds it to the digest.
  /// `ranks`: that took part; 0: all. Not collective.
  void compare(Result& result, const Reduction& r, const Bytes& got, const Bytes& wanted,
               const std::string& what);

 private:
  void leave(const std::string& name, const std::string& text);
  std::string await(const std::string& name, double seconds = 1e9);

  Settings settings_;
  Contract contract_;
  std::unique_ptr<Device> device_;
  ncclComm_t comm_ = nullptr;
  std::byte* arena_ = nullptr;
  std::size_t used_ = 0;
  int cases_ = 0, ids_ = 0, barriers_ = 0;
};

/// Waits until a nonblocking communicator has done what it was asked for; its state.
ncclResult_t settle(ncclComm_t comm);

/// Elements in the device's memory with guards on both sides, shifted by some elements from an aligned
/// address.
class Vector {
 public:
  Vector(Job& job, const Reduction& r, std::size_t count, std::size_t shift = 0);
  void put(const Bytes& bytes, int stream = 0);
  Bytes get() const { return get(0, count_); }
  Bytes get(std::size_t first, std::size_t count) const;
  bool guards_intact() const;
  std::byte* at(std::size_t element) const { return data_ + element * element_; }
  std::byte* data() const { return data_; }

 private:
  Device& device_;
  std::size_t count_, element_, room_;
  std::byte *base_, *data_;
};

/// The operation of a Reduction on a communicator; a PreMulSum is made and destroyed with it.
class Operation {
 public:
  Operation(const Reduction& r, ncclComm_t comm);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  operator ncclRedOp_t() const { return op_; }

 private:
  ncclComm_t comm_;
  bool made_;
  ncclRedOp_t op_;
};

}  // namespace promises
