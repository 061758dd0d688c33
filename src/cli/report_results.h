// SPDX-License-Identifier: Apache-2.0
// Reads results of the sweeps in perf/: detccl-perf-1 and -2, and what gpu_table (-table-1) and sweeps under
// several settings (-settings-1) put around them.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace detccl::cli {

/// Median, and the interval that the sweep gives it: `low` to `high`, or where a sweep has none its smallest
/// and largest.
struct Interval {
  double low = 0, median = 0, high = 0;
};

struct SweepRow {
  std::uint64_t bytes = 0;
  std::uint64_t rounds = 0;
  std::string datatype, op, schedule, bits;
  Interval time_us;
  std::optional<Interval> peer_time_us, ratio;  ///< with a peer only
  std::optional<double> busbw, peer_busbw;      ///< GB/s; none for a collective whose factor is not known
};

struct Sweep {
  std::string file;      ///< as it was given
  std::string settings;  ///< "NAME=value NAME=value"; what the sweep ran under beside the defaults
  std::string collective, date, commit, contract;
  std::string where;     ///< "NVIDIA H200, p2p bench", or the host's processor
  std::string driver;    ///< of the GPU, or empty
  std::string versions;  ///< "DetCCL 0.1.0, NCCL 2.28.3 …"
  std::string peer;      ///< "native NCCL", "Open MPI", or empty
  std::uint64_t ranks = 0;
  std::vector<SweepRow> rows;
};

struct Results {
  std::vector<Sweep> sweeps;
  std::vector<std::string> not_measured;  ///< a line each
};

/// A file that cannot be read, is damaged or is something else; what() is one line that begins with its name.
class BadResult : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Appends a file's sweeps to `results`. Throws BadResult.
void read_results(const std::string& file, Results& results);

}  // namespace detccl::cli
