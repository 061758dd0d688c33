// SPDX-License-Identifier: Apache-2.0
// Times and checks ncclAllReduce through DetCCL, beside MPI_Allreduce or the native NCCL where asked.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "check.h"
#include "job.h"
#include "library.h"
#include "measure.h"
#include "mpi_peer.h"
#include "options.h"
#include "report.h"
#include "values.h"

namespace detccl::perf {
namespace {

constexpr const char* kProgram = "all_reduce_perf";

class Sweep {
 public:
  Sweep(const Job& job, const Options& options)
      : job_(job),
        options_(options),
        setting_{"all_reduce", job.ranks(), 2.0 * (job.ranks() - 1) / job.ranks()},
        ours_(detccl_library(), job) {
    if (options.against == Against::native) native_ = std::make_unique<Communicator>(native_library(), job);
  }

  /// Returns whether all results were right.
  bool run() {
    if (job_.rank() == 0) std::printf("%s\n", table_head(options_, setting_).c_str());
    bool good = true;
    for (const std::uint64_t bytes : sizes(options_)) {
      rows_.push_back(measure_size(bytes));
      good = good && rows_.back().verdict.good();
      if (job_.rank() == 0) std::printf("%s\n", table_row(options_, setting_, rows_.back()).c_str());
      std::fflush(stdout);
    }
    ours_.finish();
    if (native_) native_->finish();
    return good;
  }

  std::string json_text() const { return json(options_, setting_, rows_); }

 private:
  Row measure_size(std::uint64_t bytes) {
    Row row;
    row.bytes = bytes;
    row.count = bytes / contract::size_of(options_.type);
    std::vector<std::byte> send(bytes), receive(options_.in_place ? 0 : bytes);
    std::byte* result = options_.in_place ? send.data() : receive.data();
    const auto ours = [&] { ours_.all_reduce(send.data(), result, row.count, options_.type, options_.op); };

    for (std::uint64_t check = 0; check < options_.checks; ++check) {
      const Values values(options_.type, options_.op, check);
      values.fill(static_cast<std::uint32_t>(job_.rank()), send);
      ours();
      row.verdict.add(check_all_reduce(job_, options_, values, {result, bytes}));
    }
    if (options_.checks == 0)
      Values(options_.type, options_.op, 0).fill(static_cast<std::uint32_t>(job_.rank()), send);
    row.timing =
        measure(job_, options_.warmup, options_.iterations, ours, peer(send.data(), result, row.count));
    return row;
  }

  std::function<void()> peer(const std::byte* send, std::byte* receive, std::uint64_t count) {
    if (options_.against == Against::native) {
      return [=, this] { native_->all_reduce(send, receive, count, options_.type, options_.op); };
    }
    if (options_.against == Against::mpi) {
      return [=, this] { mpi_all_reduce(send, receive, count, options_.type, options_.op); };
    }
    return nullptr;
  }

  const Job& job_;
  const Options& options_;
  Setting setting_;
  Communicator ours_;
  std::unique_ptr<Communicator> native_;
  std::vector<Row> rows_;
};

void check_peer(const Options& o) {
  if (o.against == Against::mpi) check_mpi_supports(o.type, o.op, o.max_bytes / contract::size_of(o.type));
}

/// DetCCL reads its variables when the communicator is made. Host memory needs the library for it underneath,
/// also where there is a driver and with it an NCCL for GPUs; it lies beside libdetccl.so.
void set_environment(const Options& o) {
  if (std::getenv("DETCCL_NCCL_LIBRARY") == nullptr) {
    const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    setenv("DETCCL_NCCL_LIBRARY", (here / "../lib/hostnccl/libnccl.so.2").c_str(), 1);
  }
  setenv("DETCCL_CONTRACT", contract::to_string(o.contract).c_str(), 1);
  if (!o.schedule.empty()) setenv("DETCCL_SCHEDULE", o.schedule.c_str(), 1);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write '" + path + "'");
}

int run(const Job& job, const Options& options) {
  set_environment(options);
  Sweep sweep(job, options);
  const bool good = sweep.run();
  if (job.rank() == 0 && !options.json.empty()) write_file(options.json, sweep.json_text());
  if (job.rank() == 0) std::printf("# %s\n", good ? "passed" : "FAILED: results are not the contract's");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  using namespace detccl::perf;
  const Parsed parsed = parse_options(argc, argv, kProgram);
  if (!parsed.run) {
    if (speaks_for_job()) std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  try {
    check_peer(parsed.options);
    const Job job(argc, argv);
    try {
      return run(job, parsed.options);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: rank %d: %s\n", kProgram, job.rank(), e.what());
      job.abort();
    }
  } catch (const UsageError& e) {
    if (speaks_for_job()) std::fprintf(stderr, "%s: %s\n", kProgram, e.what());
    return 2;
  }
}
