// SPDX-License-Identifier: Apache-2.0
// A program that knows nothing of DetCCL: plain nccl.h, linked with libnccl.so.2. Started as the ranks of an
// MPI job, it sums floats and prints a digest of the result; rank 0 leaves the unique id in a file.
//   nccl_client ID_FILE [EXIT_STATUS]
#include <nccl.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

int number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

ncclUniqueId exchange_id(const std::string& file, int rank) {
  ncclUniqueId id{};
  if (rank == 0) {
    if (ncclGetUniqueId(&id) != ncclSuccess) std::exit(1);
    std::ofstream(file + ".part", std::ios::binary).write(id.internal, sizeof id.internal);
    std::filesystem::rename(file + ".part", file);
  }
  while (!std::filesystem::exists(file))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::ifstream(file, std::ios::binary).read(id.internal, sizeof id.internal);
  return id;
}

void check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, ncclGetErrorString(result), ncclGetLastError(nullptr));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int rank = number("OMPI_COMM_WORLD_RANK");
  const int size = std::max(1, number("OMPI_COMM_WORLD_SIZE"));
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, size, exchange_id(argv[1], rank), rank), "ncclCommInitRank");
  std::vector<float> data(10000);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = 1.0f / static_cast<float>(1 + i + 1000u * static_cast<unsigned>(rank * rank));
  check(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, comm, nullptr),
        "ncclAllReduce");
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const float value : data) {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof bits);
    digest = (digest ^ bits) * 0x100000001b3u;
  }
  check(ncclCommDestroy(comm), "ncclCommDestroy");
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest));
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
