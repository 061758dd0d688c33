// SPDX-License-Identifier: Apache-2.0
// One rank of a test of several processes: hostnccl_rank SCENARIO RANK RANKS ID_FILE. Rank 0 makes the unique
// id and leaves it in the file. Exits with 0 when what the scenario promises was seen, else prints why not.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rank.h"

namespace {

using std::chrono::milliseconds;
using namespace detccl::test;

ncclUniqueId exchanged_id(int rank, const std::string& file) {
  ncclUniqueId id{};
  const std::string unfinished = file + ".part";
  if (rank == 0) {
    must(ncclGetUniqueId(&id));
    FILE* out = std::fopen(unfinished.c_str(), "wb");
    if (out == nullptr || std::fwrite(&id, sizeof id, 1, out) != 1 || std::fclose(out) != 0)
      failed("no id file");
    if (std::rename(unfinished.c_str(), file.c_str()) != 0) failed("rename");
    return id;
  }
  FILE* in = nullptr;
  while ((in = std::fopen(file.c_str(), "rb")) == nullptr)
    std::this_thread::sleep_for(milliseconds(2));
  if (std::fread(&id, sizeof id, 1, in) != 1) failed("id file too short");
  std::fclose(in);
  return id;
}

/// The first rank, whose process also holds the root, has gone in good order when the last data are fetched.
void early_leaver(Rank& r) {
  init(r);
  std::vector<float> data(10);
  must(reduce_once(r, data));  // all are connected: what is sent from here on leaves at once
  int value = 7;
  if (r.rank == 0) {
    for (int peer = 1; peer < r.ranks; ++peer)
      must(ncclSend(&value, 1, ncclInt32, peer, r.comm, nullptr));
    return must(ncclCommDestroy(r.comm));
  }
  std::this_thread::sleep_for(milliseconds(500 * r.rank));
  value = 0;
  must(ncclRecv(&value, 1, ncclInt32, 0, r.comm, nullptr));
  if (value != 7) failed("wrong data");
  must(ncclCommDestroy(r.comm));
}

/// Nobody is left of those who made it when rank 1 goes on: it is alone, but that is no error.
void root_gone_in_good_order(Rank& r) {
  init(r);
  std::vector<float> data(10);
  must(reduce_once(r, data));
  if (r.rank == 1) {
    std::this_thread::sleep_for(milliseconds(3000));  // longer than a process lingers at its exit
    ncclResult_t async = ncclInternalError;
    must(ncclCommGetAsyncError(r.comm, &async));
    if (async != ncclSuccess) failed(ncclGetLastError(r.comm));
  }
  must(ncclCommDestroy(r.comm));
}

/// One rank never comes: the others give up after HOSTNCCL_TIMEOUT, and the late one learns of it.
void stuck(Rank& r) {
  init(r);
  std::vector<float> data(10);
  if (r.rank == 0) std::this_thread::sleep_for(milliseconds(2500));
  const ncclResult_t result = reduce_once(r, data);
  if (result != ncclRemoteError) failed("expected ncclRemoteError, not " + std::to_string(result));
  std::puts(ncclGetLastError(r.comm));
  must(ncclCommDestroy(r.comm));
}

/// Not all ranks are started.
void incomplete(Rank& r) {
  const ncclResult_t result = ncclCommInitRank(&r.comm, r.ranks, r.id, r.rank);
  if (result != ncclRemoteError || r.comm != nullptr) failed("expected ncclRemoteError and no communicator");
  std::puts(ncclGetLastError(nullptr));
}

/// Ordinary work: all kinds of collectives, some splits.
void work(Rank& r) {
  init(r);
  for (int i = 0; i < 30; ++i) {
    std::vector<float> data(static_cast<std::size_t>(1 + i * i * 100), static_cast<float>(r.rank));
    must(reduce_once(r, data));
    if (data.back() != static_cast<float>(r.ranks - 1)) failed("wrong maximum");
    std::vector<int> all(static_cast<std::size_t>(r.ranks));
    must(ncclAllGather(&r.rank, all.data(), 1, ncclInt32, r.comm, nullptr));
    if (all.back() != r.ranks - 1) failed("wrong gather");
  }
  ncclComm_t half = nullptr;
  must(ncclCommSplit(r.comm, r.rank % 2, r.rank, &half, nullptr));
  int sum = r.rank;
  must(ncclAllReduce(&sum, &sum, 1, ncclInt32, ncclSum, half, nullptr));
  must(ncclCommDestroy(r.rank % 2 == 0 ? half : r.comm));
  must(ncclCommDestroy(r.rank % 2 == 0 ? r.comm : half));
  std::printf("sum %d\n", sum);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(Rank&)>> scenarios{
      {"killed", killed},
      {"killed_while_idle", killed_while_idle},
      {"killed_with_children", killed_with_children},
      {"vanished", vanished},
      {"early_leaver", early_leaver},
      {"root_gone", root_gone_in_good_order},
      {"stuck", stuck},
      {"incomplete", incomplete},
      {"work", work}};
  try {
    if (argc != 5) failed("usage: hostnccl_rank SCENARIO RANK RANKS ID_FILE");
    Rank r{std::atoi(argv[2]), std::atoi(argv[3])};
    r.id = exchanged_id(r.rank, argv[4]);
    scenarios.at(argv[1])(r);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank failed: %s\n", error.what());
    return 1;
  }
}
