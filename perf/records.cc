// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <thread>

#include "report.h"
#include "statistics.h"
#include "versions.h"

namespace detccl::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGiga = 1e9, kMicro = 1e-6;

const char* name(Against against) {
  return against == Against::mpi ? "mpi" : "native";
}

std::string schedule() {
  const char* value = std::getenv("DETCCL_SCHEDULE");
  return value == nullptr || *value == '\0' ? "auto" : value;
}

/// Variables that change what is measured, none of which holds a name or a path.
constexpr const char* kTold[] = {"CUDA_DEVICE_MAX_CONNECTIONS",
                                 "CUDA_VISIBLE_DEVICES",
                                 "DETCCL_CHUNK",
                                 "DETCCL_CONTRACT",
                                 "DETCCL_DISABLE",
                                 "DETCCL_FALLBACK",
                                 "DETCCL_GROUP",
                                 "DETCCL_PEER_BLOCKS",
                                 "DETCCL_PROVE",
                                 "DETCCL_SCRATCH",
                                 "DETCCL_TRACE",
                                 "HOSTNCCL_PLACEMENT",
                                 "NCCL_ALGO",
                                 "NCCL_BUFFSIZE",
                                 "NCCL_IB_DISABLE",
                                 "NCCL_MAX_CTAS",
                                 "NCCL_MAX_NCHANNELS",
                                 "NCCL_MIN_CTAS",
                                 "NCCL_MIN_NCHANNELS",
                                 "NCCL_MNNVL_ENABLE",
                                 "NCCL_MULTI_RANK_GPU_ENABLE",
                                 "NCCL_NCHANNELS_PER_NET_PEER",
                                 "NCCL_NVLS_ENABLE",
                                 "NCCL_P2P_DISABLE",
                                 "NCCL_PROTO",
                                 "NCCL_SHM_DISABLE"};

Json environment() {
  Json told = Json::object();
  for (const char* name : kTold) {
    const char* value = std::getenv(name);
    if (value != nullptr) told[name] = value;
  }
  return told;
}

/// To three decimals: more is noise.
double rounded(double value) {
  return std::round(value * 1000.0) / 1000.0;
}

Json spread_json(const std::vector<double>& values, double unit) {
  const Spread s = spread(values);
  return {{"min", rounded(s.min / unit)},
          {"median", rounded(s.median / unit)},
          {"max", rounded(s.max / unit)},
          {"low", rounded(s.low / unit)},
          {"high", rounded(s.high / unit)}};
}

double bandwidth(const Task& task, const std::vector<double>& seconds) {
  return static_cast<double>(task.bytes) / spread(seconds).median / kGiga;
}

std::string bits(const Result& r) {
  if (r.options.checks == 0) return "unchecked";
  return r.verdict.good() ? "ok" : "WRONG";
}

}  // namespace

Json describe_run(const Setting& s) {
  const Options& o = s.options;
  Json run = {
      {"kind", "run"},
      {"collective", s.collective.name},
      {"date", date_utc()},
      {"commit", o.commit},
      {"cpu", {{"model", cpu_model()}, {"cores", std::thread::hardware_concurrency()}}},
      {"versions", {{"detccl", DETCCL_VERSION}, {"nccl", s.native.version()}, {"ucx", ucx_version()}}},
      {"ranks", s.ranks},
      {"memory", o.host ? "host" : "gpu"}};
  if (o.against == Against::mpi) run["versions"]["open_mpi"] = open_mpi_version();
  if (!o.host) {
    run["gpu"] = {{"name", s.gpu.name}, {"driver", s.gpu.driver}, {"visible", s.gpu.count}};
    run["nccl_library"] = s.native.path;
    run["bench"] = perf::name(s.bench);
  }
  run["in_place"] = o.in_place;
  run["contract"] = contract::to_string(o.contract);
  if (s.collective.reduces && o.checks > 0)
    run["repeats"] = {{"split", o.repeats.split}, {"communicator", o.repeats.communicator}};
  run["schedules"] = o.schedules.empty() ? Json::array({schedule()}) : Json(o.schedules);
  run["environment"] = environment();
  if (o.fault.rank >= 0)
    run["injected"] = {{"rank", o.fault.rank}, {"call", o.fault.call}, {"ulps", o.fault.ulps}};
  run["iterations"] = o.iterations;
  run["rounds"] = o.host ? Json() : Json(o.rounds);
  run["graph"] = o.graph;
  run["warmup"] = o.warmup;
  run["checks"] = o.checks;
  run["against"] = o.against == Against::nothing ? Json() : Json(name(o.against));
  if (!o.native_algo.empty()) run["native_algo"] = o.native_algo;
  run["interval"] = "95 % of the median, order statistics";
  return run;
}

Json describe_row(const Result& r) {
  const double factor = r.collective.bus_factor(r.ranks);
  const double algbw = bandwidth(r.task, r.timing.ours);
  Json row = {{"kind", "row"},
              {"bytes", r.task.bytes},
              {"count", r.task.count},
              {"datatype", type_name(r.task.type)},
              {"op", r.collective.reduces ? contract::name(r.task.op) : "none"},
              {"root", r.collective.rooted ? static_cast<int>(r.options.root) : -1},
              {"schedule", schedule()},
              {"rounds", r.timing.ours.size()},
              {"calls", r.timing.calls},
              {"time_us", spread_json(r.timing.ours, kMicro)},
              {"algbw_gb_s", rounded(algbw)},
              {"busbw_gb_s", rounded(algbw * factor)}};
  const bool eager_gpu = !r.options.host && r.options.graph == 0;
  if (eager_gpu) row["host_us"] = spread_json(r.timing.our_host, kMicro);
  if (!r.timing.peer.empty()) {
    row["peer_time_us"] = spread_json(r.timing.peer, kMicro);
    row["peer_busbw_gb_s"] = rounded(bandwidth(r.task, r.timing.peer) * factor);
    row["ratio"] = spread_json(ratios(r.timing.ours, r.timing.peer), 1.0);
    if (eager_gpu) row["peer_host_us"] = spread_json(r.timing.peer_host, kMicro);
  }
  row["bits"] = bits(r);
  if (r.verdict.split_wrong) row["split"] = *r.verdict.split_wrong == 0 ? "ok" : "WRONG";
  if (r.verdict.communicator_wrong) row["communicator"] = *r.verdict.communicator_wrong == 0 ? "ok" : "WRONG";
  row["checked"] = r.verdict.checked;
  row["wrong_ranks"] = r.verdict.wrong_ranks;
  row["ranks_agree"] = r.verdict.ranks_agree;
  return row;
}

Json describe_failure(const Task* task, const std::string& reason) {
  Json failure = {{"kind", "failure"}, {"schedule", schedule()}, {"reason", reason}};
  if (task != nullptr) {
    failure["datatype"] = type_name(task->type);
    failure["op"] = contract::name(task->op);
    failure["bytes"] = task->bytes;
  }
  return failure;
}

}  // namespace detccl::perf
