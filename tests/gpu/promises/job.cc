// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace promises {
namespace {

constexpr std::size_t kArena = std::size_t{192} << 20;
constexpr int kGuardByte = 0xa5;
constexpr std::size_t kGuard = 256;

}  // namespace

void require(ncclResult_t result, const std::string& call) {
  if (result == ncclSuccess) return;
  const char* const detail = ncclGetLastError(nullptr);
  throw std::runtime_error(call + ": " + ncclGetErrorString(result) + " (" +
                           (detail != nullptr ? detail : "") + ")");
}

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

ncclResult_t settle(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    require(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
    std::this_thread::yield();
  }
  return state;
}

Job::Job(const Settings& settings) : settings_(settings) {
  if (const char* text = std::getenv("DETCCL_CONTRACT")) {
    const auto parsed = detccl::contract::parse_contract(text);
    require(parsed.has_value(), std::string("DETCCL_CONTRACT is ") + text);
    contract_ = *parsed;
  }
  if (!settings.host) device_ = open_gpu();
  if (device_ == nullptr) device_ = open_host();
  arena_ = static_cast<std::byte*>(device_->allocate(kArena));
  comm_ = new_communicator();
}

void Job::leave(const std::string& name, const std::string& text) {
  const std::string file = settings_.folder + "/" + name;
  std::ofstream(file + ".part", std::ios::binary) << text;
  std::filesystem::rename(file + ".part", file);
}

std::string Job::await(const std::string& name, double seconds) {
  const std::string file = settings_.folder + "/" + name;
  const auto start = std::chrono::steady_clock::now();
  while (!std::filesystem::exists(file)) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    require(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds,
            "another rank did not come to " + name);
  }
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

ncclUniqueId Job::unique_id() {
  const std::string name = "id." + std::to_string(cases_) + "." + std::to_string(ids_++);
  ncclUniqueId id{};
  if (rank() == 0) {
    require(ncclGetUniqueId(&id), "ncclGetUniqueId");
    leave(name, std::string(id.internal, sizeof id.internal));
  }
  const std::string text = await(name);
  require(text.size() == sizeof id.internal, "the unique id's file");
  std::memcpy(id.internal, text.data(), sizeof id.internal);
  return id;
}

ncclComm_t Job::new_communicator(int blocking) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = blocking;
  ncclComm_t comm = nullptr;
  const ncclResult_t made = ncclCommInitRankConfig(&comm, ranks(), unique_id(), rank(), &config);
  if (made != ncclInProgress) require(made, "ncclCommInitRankConfig");
  require(settle(comm), "the new communicator");
  return comm;
}

void Job::barrier() {
  const std::string name = "barrier." + std::to_string(cases_) + "." + std::to_string(barriers_++) + ".";
  leave(name + std::to_string(rank()), "");
  for (int peer = 0; peer < ranks(); ++peer)
    await(name + std::to_string(peer));
}

void Job::finish() {
  device_->wait();
  require(ncclCommDestroy(comm_), "ncclCommDestroy");
}

std::byte* Job::take(std::size_t bytes) {
  std::byte* const memory = arena_ + used_;
  used_ += (bytes + 255) / 256 * 256;
  require(used_ <= kArena, "the case needs more memory than the arena has");
  return memory;
}

void Job::start_case(Result& result) {
  used_ = 0;
  result = {};
}

void Job::end_case(bool thrown) {
  constexpr double kPatience = 8;  // seconds
  constexpr int kDeepest = 4;      // groups that a case has open
  if (thrown) {
    for (int depth = 0; depth < kDeepest && ncclGroupEnd() != ncclInvalidUsage; ++depth) {
    }
  }
  const std::string name = "end." + std::to_string(cases_) + ".";
  leave(name + std::to_string(rank()), thrown ? "thrown" : "well");
  bool well = true;
  for (int peer = 0; peer < ranks(); ++peer)
    well &= (thrown ? await(name + std::to_string(peer), kPatience) : await(name + std::to_string(peer))) ==
            "well";
  ++cases_;
  ids_ = barriers_ = 0;  // they may have come apart
  if (well) return;
  static_cast<void>(ncclCommAbort(comm_));
  comm_ = new_communicator();
}

void Job::compare(Result& result, const Reduction& r, const Bytes& got, const Bytes& wanted,
                  const std::string& what) {
  result.add_to_digest(got.data(), got.size());
  const std::size_t wrong = differing(r, got, wanted);
  if (native()) {
    result.figures["differ_from_contract"] += static_cast<double>(wrong);
    return result.expect(true, what);
  }
  result.expect(wrong == 0, what + ": " + std::to_string(wrong) + " of " +
                                std::to_string(got.size() / r.size(1)) + " elements are not the contract's");
}

Vector::Vector(Job& job, const Reduction& r, std::size_t count, std::size_t shift)
    : device_(job.device()),
      count_(count),
      element_(r.size(1)),
      room_((count + shift) * element_ + 2 * kGuard),
      base_(job.take(room_)),
      data_(base_ + kGuard + shift * element_) {
  device_.fill(base_, kGuardByte, room_, 0);
  device_.wait();
}

void Vector::put(const Bytes& bytes, int stream) {
  require(bytes.size() == count_ * element_, "size of a vector");
  device_.upload(data_, bytes.data(), bytes.size(), stream);
}

Bytes Vector::get(std::size_t first, std::size_t count) const {
  Bytes out(count * element_);
  device_.download(out.data(), at(first), out.size());
  return out;
}

bool Vector::guards_intact() const {
  const auto is_guard = [](std::uint8_t byte) { return byte == kGuardByte; };
  Bytes before(static_cast<std::size_t>(data_ - base_));
  Bytes after(room_ - before.size() - count_ * element_);
  device_.download(before.data(), base_, before.size());
  device_.download(after.data(), at(count_), after.size());
  return std::all_of(before.begin(), before.end(), is_guard) &&
         std::all_of(after.begin(), after.end(), is_guard);
}

Operation::Operation(const Reduction& r, ncclComm_t comm)
    : comm_(comm), made_(r.op == Op::premulsum), op_(static_cast<ncclRedOp_t>(r.op)) {
  if (!made_) return;
  std::uint64_t scalar = r.scalar();
  require(ncclRedOpCreatePreMulSum(&op_, &scalar, nccl(r.type), ncclScalarHostImmediate, comm),
          "ncclRedOpCreatePreMulSum");
}

Operation::~Operation() {
  if (made_) ncclRedOpDestroy(op_, comm_);
}

}  // namespace promises
