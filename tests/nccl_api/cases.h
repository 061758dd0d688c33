// SPDX-License-Identifier: Apache-2.0
// Random reductions: what each rank contributes, and what the contract says the result is.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "contract/contract.h"
#include "nccl_api/ranks.h"

namespace detccl::test {

using Bytes = std::vector<std::uint8_t>;

struct Case {
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;  ///< where `premulsum`, the operation is yet to be created
  bool premulsum = false;
  std::uint64_t scalar = 0;  ///< bits of each rank's factor
  std::size_t count = 0;     ///< elements of an all_reduce; one of reduce_scatter's shards is a rank's part
  int root = 0;
  std::uint64_t seed = 0;

  std::size_t element() const;
  std::string text() const;
};

/// Any type, operation and root; at most `largest` elements, a multiple of `ranks`, so that all collectives
/// can be compared on it; small counts often.
Case random_case(Random& random, int ranks, std::size_t largest);

/// Rank `rank`'s `count` elements: ordinary values mostly, any bit pattern now and then.
Bytes input_of(const Case& c, int rank);

/// What every element must be.
Bytes expected(const Case& c, const contract::Contract& contract, int ranks);

/// "bits of element 5: 0x3f800000 instead of 0x40000000", or empty.
std::string difference(const Case& c, const Bytes& got, const Bytes& wanted);

}  // namespace detccl::test
