// SPDX-License-Identifier: Apache-2.0
// Reductions captured in a CUDA graph and replayed, the inputs changed before every replay.
#include <deque>

#include "cases.h"

namespace promises {
namespace {

constexpr std::size_t kVariants = 8, kShard = 1003;
enum class What { one, two_streams, several };

/// What a graph works on: `in` gets one of eight inputs before a replay.
struct Work {
  explicit Work(Job& job)
      : ranks(static_cast<std::size_t>(job.ranks())),
        count(kShard * ranks),
        own(kShard * static_cast<std::size_t>(job.rank())),
        in(job, r, count),
        all(job, r, count),
        part(job, r, kShard),
        gathered(job, r, count) {
    for (std::size_t v = 0; v < kVariants; ++v) {
      inputs.emplace_back(job, r, count);
      inputs.back().put(input(r, job.rank(), v * count, count));
    }
    job.device().wait();
  }

  void enqueue(Job& job, What what, ncclComm_t comm) {
    const cudaStream_t first = job.device().stream(0),
                       second = job.device().stream(what == What::two_streams);
    if (what == What::two_streams) job.device().order(0, 1);
    require(ncclAllReduce(in.data(), all.data(), count, nccl(r.type), ncclSum, comm, first), "ncclAllReduce");
    if (what == What::one) return;
    require(ncclReduceScatter(in.data(), part.data(), kShard, nccl(r.type), ncclSum, comm, second),
            "ncclReduceScatter");
    if (what == What::several)
      require(ncclAllGather(part.data(), gathered.data(), kShard, nccl(r.type), comm, first),
              "ncclAllGather");
    if (what == What::two_streams) job.device().order(1, 0);
  }

  void compare(Job& job, Result& result, What what, std::size_t variant, const std::string& when) {
    const Bytes wanted = expected(job.contract(), r, job.ranks(), variant * count, count);
    job.compare(result, r, all.get(), wanted, "all_reduce " + when);
    if (what == What::one) return;
    job.compare(result, r, part.get(),
                expected(job.contract(), r, job.ranks(), variant * count + own, kShard),
                "reduce_scatter " + when);
    if (what == What::several) job.compare(result, r, gathered.get(), wanted, "all_gather " + when);
  }

  Reduction r{DataType::bfloat16, Op::sum, 7000};
  std::size_t ranks, count, own;
  Vector in, all, part, gathered;
  std::deque<Vector> inputs;
};

/// `fresh`: the capture is the first that the communicator does.
void replayed(Job& job, Result& result, What what, bool fresh) {
  if (!job.device().is_gpu()) {
    result.skipped = "needs a GPU";
    return;
  }
  const ncclComm_t comm = fresh ? job.new_communicator() : job.comm();
  Work work(job);
  if (!fresh) {
    job.device().copy(work.in.data(), work.inputs[0].data(), work.r.size(work.count), 0);
    work.enqueue(job, what, comm);
    work.compare(job, result, what, 0, "eager");
  }
  auto graph = job.device().capture([&] { work.enqueue(job, what, comm); });
  for (int i = 0; i < job.replays(); ++i) {
    const std::size_t variant = static_cast<std::size_t>(i) % kVariants;
    job.device().copy(work.in.data(), work.inputs[variant].data(), work.r.size(work.count), 0);
    graph->launch(0);
    const bool look = i < 3 || i % 97 == 0 || i == job.replays() - 1;
    if (look) work.compare(job, result, what, variant, "in replay " + std::to_string(i));
    if (i % 500 == 250) {  // eager work between replays
      work.enqueue(job, what, comm);
      work.compare(job, result, what, variant, "eager after replay " + std::to_string(i));
    }
  }
  job.device().wait();
  job.barrier();
  graph.reset();  // NCCL's destroy waits for the graphs of its communicator
  if (!fresh) return;
  require(ncclCommDestroy(comm), "ncclCommDestroy");
}

/// Two graphs of one communicator, launched in turn.
void two_graphs(Job& job, Result& result) {
  if (!job.device().is_gpu()) {
    result.skipped = "needs a GPU";
    return;
  }
  Work a(job), b(job);
  const auto first = job.device().capture([&] { a.enqueue(job, What::several, job.comm()); });
  const auto second = job.device().capture([&] { b.enqueue(job, What::one, job.comm()); });
  for (std::size_t i = 0; i < 100; ++i) {
    job.device().copy(a.in.data(), a.inputs[i % kVariants].data(), a.r.size(a.count), 0);
    job.device().copy(b.in.data(), b.inputs[(i + 3) % kVariants].data(), b.r.size(b.count), 0);
    first->launch(0);
    second->launch(0);
    if (i % 11 != 0) continue;
    a.compare(job, result, What::several, i % kVariants, "of the first graph");
    b.compare(job, result, What::one, (i + 3) % kVariants, "of the second graph");
  }
  job.device().wait();
  job.barrier();
}

}  // namespace

void add_graph_cases(Cases& cases) {
  const auto add = [&](const char* name, What what, bool fresh) {
    cases.push_back({name, [=](Job& job, Result& result) { replayed(job, result, what, fresh); }});
  };
  add("graph.one", What::one, false);
  add("graph.two_streams", What::two_streams, false);
  add("graph.several", What::several, false);
  add("graph.first_use", What::several, true);
  cases.push_back({"graph.two_graphs", two_graphs});
}

}  // namespace promises
