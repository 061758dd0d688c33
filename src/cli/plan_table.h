// SPDX-License-Identifier: Apache-2.0
// `detccl plan --table`: what an AllReduce costs per rank over many numbers of ranks, beside NCCL's
// algorithms.
#pragma once

#include <cstdint>
#include <string>

#include "contract/contract.h"

namespace detccl::cli {

/// Counted from the plans themselves, of `count` elements; the schedules that can carry out the contract.
/// Takes seconds. Ends with a newline.
std::string plan_table(const contract::Contract& contract, contract::DataType type, std::uint64_t count);

}  // namespace detccl::cli
