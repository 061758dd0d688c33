// SPDX-License-Identifier: Apache-2.0
#include "made_up_job.h"

#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include "summary.h"

namespace detccl::test {
namespace {

using nlohmann::json;
using profile::Moment;
using profile::Operation;
using profiler::Communicator;

/// Native time of an operation of so many bytes.
double native_ns(std::uint64_t bytes) {
  return 20'000 + static_cast<double>(bytes) / 50;
}

void native_call(Communicator& c, std::uint64_t elements, std::uint64_t nanoseconds) {
  profiler::Event e;
  e.kind = profile::abi::collective;
  e.function = "AllReduce";
  e.datatype = "ncclFloat32";
  e.algorithm = "RING";
  e.protocol = "SIMPLE";
  e.count = elements;
  void* operation = c.start(e, true);
  c.stop(operation);
  profiler::Event k;
  k.kind = profile::abi::kernel_channel;
  k.parent = operation;
  k.channel = {0, 1000};
  void* kernel = c.start(k, true);
  c.kernel_stopped(kernel, 1000 + nanoseconds);
  c.stop(kernel);
}

}  // namespace

void our_call(Communicator& c, const Job& job, int rank, const char* schedule, std::uint64_t elements,
              std::uint64_t nanoseconds) {
  const Operation operation{.rank = rank,
                            .ranks = job.ranks,
                            .communicator = job.number,
                            .function = "AllReduce",
                            .datatype = "ncclFloat32",
                            .schedule = schedule,
                            .count = elements};
  c.observe(operation, Moment::enqueued, 0);
  c.observe(operation, Moment::measured, nanoseconds);
}

namespace {

/// Every rank leaves an operation when the last has come and the operation is through.
void write_rank(const Job& job, int rank, const std::string& folder) {
  std::mt19937_64 noise(job.seed * 100'000u + static_cast<unsigned>(rank));
  std::uniform_real_distribution<double> waits(0.0, 3000.0), jitter(0.99, 1.01);
  Communicator c(1, {6, job.number, "world", rank, job.ranks, job.ranks / 8});
  for (const std::uint64_t elements :
       {std::uint64_t{1} << 10, std::uint64_t{1} << 18, std::uint64_t{1} << 22}) {
    for (int i = 0; i < job.calls; ++i) {
      const double native = native_ns(elements * 4);
      double ns = (job.native ? 1 : job.ours) * native * jitter(noise);
      if (job.late >= 0 && rank != job.late) ns += 60'000 + waits(noise);
      if (job.native) {
        native_call(c, elements, static_cast<std::uint64_t>(ns));
        continue;
      }
      our_call(c, job, rank, "direct", elements, static_cast<std::uint64_t>(ns));
      if (job.slow != 1) our_call(c, job, rank, "tree", elements, static_cast<std::uint64_t>(job.slow * ns));
    }
  }
  std::ofstream(fmt::format("{}/{:x}-{}.json", folder, job.number, rank)) << profiler::summary(c);
}

}  // namespace

std::string write_job(const Folder& folder, const std::string& name, const Job& job) {
  const std::string path = folder.file(name);
  std::filesystem::create_directory(path);
  for (int rank = 0; rank < job.ranks; ++rank)
    write_rank(job, rank, path);
  return path;
}

Answer overhead(const Folder& folder, const std::string& arguments) {
  const std::string file = folder.file("overhead.json");
  std::filesystem::remove(file);
  Answer answer{run(DETCCL_BINARY " overhead --json " + file + " " + arguments), {}};
  std::ifstream stream(file);
  if (stream) answer.document = json::parse(stream);
  return answer;
}

}  // namespace detccl::test
