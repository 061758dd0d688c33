// SPDX-License-Identifier: Apache-2.0
// Ranks as processes: starts hostnccl_rank once per rank, and kills what is left when time is up.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace detccl::test {

struct RankOutcome {
  int exit_code = -1;  ///< or 128 + the signal that ended it
  std::string output;  ///< standard output and error
};

struct Launch {
  std::string scenario;
  int ranks = 2;
  std::map<std::string, std::string> environment;
  int only_first = 0;  ///< if not 0: so many processes are started
  int limit_seconds = 200;
};

/// By rank. Throws std::runtime_error, with all output, when not all have ended in time.
std::vector<RankOutcome> launch(const Launch& launch);

}  // namespace detccl::test
