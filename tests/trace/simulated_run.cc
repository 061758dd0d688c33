// SPDX-License-Identifier: Apache-2.0
#include "simulated_run.h"

#include <map>
#include <utility>

#include "trace/hash.h"

namespace detccl::test {
namespace {

using trace::Digest;
using trace::Kind;
using trace::Record;

Digest mix(std::initializer_list<std::uint64_t> words) {
  trace::Hash hash;
  for (const std::uint64_t word : words) {
    hash.add(word);
  }
  return hash.value();
}

/// What comes out on a rank of one operation, from what everyone put in.
Digest output_of(const RunRecords& run, std::uint32_t rank, std::size_t place) {
  const Record& mine = run[rank][place];
  if (mine.kind == Kind::recv) {
    // Its send was the operation before, on the rank that it names.
    return run[mine.peer][place - 1].input;
  }
  Digest sum;
  for (std::uint32_t other = 0; other < run.size(); ++other) {
    const Record& theirs = run[other][place];
    if (theirs.communicator != mine.communicator || (theirs.flags & trace::kNoInput) != 0) continue;
    const Digest term = mix({theirs.input.low, theirs.input.high, other});
    sum.low += term.low;
    sum.high += term.high;
  }
  const bool differs_by_rank = mine.kind == Kind::reduce_scatter || mine.kind == Kind::all_to_all;
  return mix({sum.low, sum.high, differs_by_rank ? rank : ~0U});
}

}  // namespace

RunRecords simulate(const perf::Shape& shape, const Interference& interference) {
  RunRecords run;
  std::vector<Digest> state;
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
    run.push_back(perf::operations_of(shape, rank));
    state.push_back(mix({rank}));
  }
  for (std::size_t place = 0; place < run[0].size(); ++place) {
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      Record& r = run[rank][place];
      if ((r.flags & trace::kNoInput) != 0) continue;
      r.input = mix({state[rank].low, state[rank].high, r.step});
      if (interference.input) interference.input(rank, place, r.input);
    }
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      Record& r = run[rank][place];
      if ((r.flags & trace::kNoOutput) != 0) continue;
      r.output = output_of(run, rank, place);
      if (interference.output) interference.output(rank, place, r.output);
    }
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const Record& r = run[rank][place];
      state[rank] = mix({state[rank].low, r.input.low, r.output.low, r.output.high});
    }
  }
  return run;
}

void write_run(const std::string& folder, const perf::Shape& shape, const RunRecords& run) {
  for (std::uint32_t rank = 0; rank < run.size(); ++rank) {
    perf::write_rank(folder, shape, rank, run[rank]);
  }
}

void renumber(Records& records) {
  std::map<std::pair<std::uint64_t, int>, std::uint64_t> sequences;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto kind = static_cast<std::uint8_t>(records[i].kind);
    records[i].sequence = i;
    records[i].communicator_sequence =
        sequences[{records[i].communicator, trace::is_p2p(kind) ? kind : -1}]++;
  }
}

}  // namespace detccl::test
