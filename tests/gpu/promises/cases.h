// SPDX-License-Identifier: Apache-2.0
// The cases: what the contract promises, and NCCL's own semantics. All ranks run the same ones in the same
// order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "job.h"

namespace promises {

/// Mismatches are counted in the result; an error that ends the job is thrown as std::runtime_error.
struct Case {
  std::string name;  ///< "subject.detail"
  std::function<void(Job&, Result&)> run;
};

using Cases = std::vector<Case>;

void add_reduction_cases(Cases& cases);     ///< reduce.*, large.*: every type and operation
void add_piece_cases(Cases& cases);         ///< pieces.*: a message and its parts
void add_memory_cases(Cases& cases);        ///< scalar.*, registered.*
void add_group_cases(Cases& cases);         ///< group.*
void add_stream_cases(Cases& cases);        ///< streams.*
void add_graph_cases(Cases& cases);         ///< graph.*
void add_communicator_cases(Cases& cases);  ///< comm.*: how communicators are made
void add_end_cases(Cases& cases);           ///< end.*: how they end
void add_argument_cases(Cases& cases);      ///< arguments.*
void add_time_cases(Cases& cases);          ///< time.*

}  // namespace promises
