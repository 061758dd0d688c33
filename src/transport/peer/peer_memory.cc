// SPDX-License-Identifier: Apache-2.0
#include "transport/peer/peer_memory.h"

#include <random>

#include "device/cuda/last_error.h"

namespace detccl::transport {
namespace {

using device::cuda::tolerate;

std::string text_of(const char* what, cudaError_t error) {
  tolerate(error);
  return std::string(what) + ": " + cudaGetErrorString(error);
}

std::uint64_t process_number() {
  static const std::uint64_t number = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return number;
}

std::optional<std::string> allow_access(int from, int to) {
  if (from == to) return std::nullopt;
  int possible = 0;
  cudaError_t error = cudaDeviceCanAccessPeer(&possible, from, to);
  if (error != cudaSuccess) return text_of("cudaDeviceCanAccessPeer", error);
  if (possible == 0) {
    return "GPU " + std::to_string(from) + " cannot reach the memory of GPU " + std::to_string(to);
  }
  error = cudaDeviceEnablePeerAccess(to, 0);
  if (error == cudaSuccess) return std::nullopt;
  const std::string text = text_of("cudaDeviceEnablePeerAccess", error);
  if (error == cudaErrorPeerAccessAlreadyEnabled) return std::nullopt;
  return text;
}

}  // namespace

void PeerCard::set_problem(std::string_view text) {
  problem.fill('\0');
  text.copy(problem.data(), problem.size() - 1);
}

PeerMemory::PeerMemory(std::uint64_t host, std::uint64_t bytes, std::string_view problem) {
  card_.host = host;
  card_.process = process_number();
  card_.bytes = bytes;
  card_.set_problem(problem);
  if (!problem.empty()) return;
  const auto failed = [this](const char* what, cudaError_t error) {
    if (error != cudaSuccess) card_.set_problem(text_of(what, error));
    return error != cudaSuccess;
  };
  if (failed("cudaGetDevice", cudaGetDevice(&card_.device))) return;
  void* memory = nullptr;
  if (failed("cudaMalloc", cudaMalloc(&memory, bytes))) return;
  card_.region = static_cast<std::byte*>(memory);
  if (failed("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&card_.handle, memory))) return;
  // Not on the default stream: it waits for the program's others, and must not be used while they capture.
  cudaStream_t stream = nullptr;
  if (failed("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return;
  if (!failed("cudaMemset", cudaMemsetAsync(memory, 0, bytes, stream)))
    failed("cudaMemset", cudaStreamSynchronize(stream));
  tolerate(cudaStreamDestroy(stream));
}

PeerMemory::~PeerMemory() {
  unmap();
  if (card_.region != nullptr && !left_) tolerate(cudaFree(card_.region));
}

void PeerMemory::unmap() {
  for (void* const mapping : opened_)
    tolerate(cudaIpcCloseMemHandle(mapping));
  opened_.clear();
  regions_.clear();
}

std::optional<std::string> PeerMemory::map(std::span<const PeerCard> cards, std::uint32_t rank) {
  regions_.clear();
  for (std::size_t r = 0; r < cards.size(); ++r) {
    const PeerCard& card = cards[r];
    if (r == rank || card.process == card_.process) {
      if (const auto problem = allow_access(card_.device, card.device)) return problem;
      regions_.push_back(card.region);
      continue;
    }
    void* mapping = nullptr;
    const cudaError_t error = cudaIpcOpenMemHandle(&mapping, card.handle, cudaIpcMemLazyEnablePeerAccess);
    if (error != cudaSuccess)
      return text_of("cudaIpcOpenMemHandle", error) + " (memory of rank " + std::to_string(r) + ")";
    opened_.push_back(mapping);
    regions_.push_back(static_cast<std::byte*>(mapping));
  }
  return std::nullopt;
}

std::optional<std::string> find_problem(std::span<const PeerCard> cards) {
  for (std::size_t r = 0; r < cards.size(); ++r) {
    const auto& text = cards[r].problem;
    const std::string_view all(text.data(), text.size());
    const std::string_view problem = all.substr(0, all.find('\0'));
    const std::string rank = "rank " + std::to_string(r) + ": ";
    if (!problem.empty()) return rank + std::string(problem);
    if (cards[r].host != cards[0].host) return rank + "it is on another host than rank 0";
    if (cards[r].bytes != cards[0].bytes) return rank + "it has another DETCCL_PEER_BLOCKS than rank 0";
  }
  return std::nullopt;
}

}  // namespace detccl::transport
