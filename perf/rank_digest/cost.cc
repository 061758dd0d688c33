// SPDX-License-Identifier: Apache-2.0
#include "rank_digest/cost.h"

#include <sys/resource.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace detccl::perf::rank_digest {

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::uint64_t memory_kb() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    std::uint64_t kb = 0;
    if (word == "Pss:" && rollup >> kb) return kb;
  }
  throw std::runtime_error("/proc/self/smaps_rollup has no Pss");
}

}  // namespace detccl::perf::rank_digest
