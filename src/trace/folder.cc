// SPDX-License-Identifier: Apache-2.0
#include "trace/folder.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <thread>

#include "trace/format.h"
#include "trace/reader.h"

namespace detccl::trace {
namespace {

RankFiles single(const std::string& path, std::string& error) {
  auto source = open_file(path, error);
  if (!source) return {};
  const auto reader = Reader::open(std::move(source), error);
  if (!reader) {
    error = path + ": " + error;
    return {};
  }
  return {{reader->run().rank, {path}}};
}

}  // namespace

RankFiles list_ranks(const std::string& path, std::string& error) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) return single(path, error);
  std::map<std::uint32_t, std::map<std::uint32_t, std::string>> found;
  std::filesystem::directory_iterator files(path, failure);
  for (; !failure && files != std::filesystem::directory_iterator(); files.increment(failure)) {
    std::uint32_t rank = 0, part = 0;
    if (parse_part_name(files->path().filename().string(), rank, part)) {
      found[rank][part] = files->path().string();
    }
  }
  if (failure) error = path + ": " + failure.message();
  if (!failure && found.empty()) error = path + ": no trace files (rank-*.dtr)";
  RankFiles ranks;
  for (const auto& [rank, parts] : found) {
    for (const auto& [part, file] : parts) {
      ranks[rank].push_back(file);
    }
  }
  return ranks;
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& call) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      call(i);
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(cores, count); ++i) {
    helpers.emplace_back(work);
  }
  work();
  for (std::thread& helper : helpers) {
    helper.join();
  }
}

}  // namespace detccl::trace
