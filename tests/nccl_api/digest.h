// SPDX-License-Identifier: Apache-2.0
// The test's client programs as MPI jobs.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "support/command.h"

namespace detccl::test {

/// The lines "digest …" of an output; all ranks must have printed the same.
inline std::string digest_of(const Outcome& outcome, int ranks) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::set<std::string> digests;
  int lines = 0;
  std::istringstream text(outcome.output);
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("digest ")) continue;
    ++lines;
    digests.insert(line);
  }
  EXPECT_EQ(lines, ranks) << outcome.output;
  EXPECT_EQ(digests.size(), 1u) << outcome.output;
  return digests.empty() ? "" : *digests.begin();
}

/// The digest of `client` as `ranks` processes, `launcher` before the program. `environment`: "NAME=value"
/// pairs.
inline std::string run_client(int ranks, const std::string& client, const std::string& launcher,
                              const std::string& environment = "") {
  const Folder folder;
  return digest_of(run(mpirun(ranks, environment) + launcher + " " + client + " " + folder.file("id")),
                   ranks);
}

}  // namespace detccl::test
