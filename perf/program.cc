// SPDX-License-Identifier: Apache-2.0
// What the sweep programs have in common: their main().
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "child_job.h"
#include "collective.h"
#include "mpi_job.h"
#include "mpi_peer.h"
#include "options.h"
#include "report.h"
#include "supervisor.h"
#include "sweep.h"

namespace detccl::perf {
namespace {

/// A rank that a supervisor started. What it leaves open ends with the process: nobody waits for the
/// destructors of libraries that may be in error.
[[noreturn]] void run_child(const Options& options, const Collective& collective) {
  const ChildPlace& place = options.child;
  fcntl(place.fd, F_SETFD, FD_CLOEXEC);
  ChildJob job(place.fd, place.rank, place.ranks);
  Sweep sweep(job, options, collective,
              [&](const nlohmann::ordered_json& record) { job.send_record(record.dump()); });
  const int code = static_cast<int>(sweep.run(place.first_step));
  job.send_end(code);
  std::fflush(nullptr);
  std::_Exit(code);
}

/// The ranks are mpirun's processes themselves.
int run_in_place(MpiJob& job, const Options& options, const Collective& collective) {
  if (!options.schedules.empty()) setenv("DETCCL_SCHEDULE", options.schedules.front().c_str(), 1);
  Report report(options, tasks(options, collective, job.ranks()).size());
  Sweep sweep(job, options, collective, [&](const nlohmann::ordered_json& record) { report.add(record); });
  const Ending ending = sweep.run(0);
  std::uint64_t code = job.rank() == 0 ? static_cast<std::uint64_t>(report.finish()) : 0;
  job.broadcast(&code, sizeof code);
  if (ending != Ending::through) std::_Exit(static_cast<int>(code));
  return static_cast<int>(code);
}

int run_supervised(MpiJob* job, const Options& options, const Collective& collective,
                   std::vector<std::string> arguments) {
  Watch watch;
  watch.arguments = std::move(arguments);
  watch.timeout = options.timeout;
  watch.mpi = job != nullptr;
  watch.first_rank = job != nullptr ? job->rank() : 0;
  watch.ranks = job != nullptr ? job->ranks() : static_cast<int>(std::max<std::uint64_t>(options.ranks, 1));
  watch.local_ranks = job != nullptr ? 1 : watch.ranks;
  watch.tasks = tasks(options, collective, watch.ranks);
  std::unique_ptr<Report> report;
  if (watch.first_rank == 0) report = std::make_unique<Report>(options, watch.tasks.size());
  supervise(watch, options.schedules.empty() ? std::vector<std::string>{""} : options.schedules,
            report.get());
  std::uint64_t code = report ? static_cast<std::uint64_t>(report->finish()) : 0;
  if (job != nullptr) job->broadcast(&code, sizeof code);
  return static_cast<int>(code);
}

int run(int argc, char** argv, const Options& options, const Collective& collective) {
  if (options.child.fd >= 0) run_child(options, collective);
  if (options.against == Against::mpi) {
    for (const contract::DataType type : options.types)
      for (const contract::Op op : options.ops)
        check_mpi_supports(type, op, options.max_bytes / contract::size_of(type));
  }
  std::vector<std::string> arguments(argv, argv + argc);
  const bool in_place = options.host && options.ranks == 0 && options.schedules.size() <= 1;
  std::unique_ptr<MpiJob> job;
  if (options.ranks == 0 && (in_place || announced_ranks() > 1)) job = std::make_unique<MpiJob>(argc, argv);
  try {
    return in_place ? run_in_place(*job, options, collective)
                    : run_supervised(job.get(), options, collective, std::move(arguments));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", collective.program, e.what());
    if (job == nullptr) return 2;
    job->abort();
  }
}

}  // namespace

int perf_main(int argc, char** argv, const Collective& collective) {
  const Parsed parsed = parse_options(argc, argv, collective);
  if (!parsed.run) {
    if (speaks_for_job()) std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  try {
    return run(argc, argv, parsed.options, collective);
  } catch (const std::exception& e) {
    if (speaks_for_job()) std::fprintf(stderr, "%s: %s\n", collective.program, e.what());
    return 2;
  }
}

}  // namespace detccl::perf
