// SPDX-License-Identifier: Apache-2.0
// Runs one collective call over virtual ranks in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "transport/loop/loop_fabric.h"

namespace detccl::test {

/// In which order things happen.
enum class Delivery {
  prompt,    ///< transfers are posted when the engine asks for them
  shuffled,  ///< held back for a random while and posted in random order
};

struct Results {
  std::vector<Bytes> outputs;  ///< per rank; empty where a rank has none
  std::string failure;         ///< empty if all went well
};

/// One thread drives all ranks in turn, in random order if `delivery` is shuffled.
Results run_virtual(const Case& c, Delivery delivery = Delivery::prompt);

/// Runs the case and compares every rank with the reference. Returns what is wrong, or nothing.
std::string check_virtual(const Case& c, Delivery delivery = Delivery::prompt);

/// Holds back what it is asked to post. Drives `inner`, which it owns.
std::unique_ptr<transport::Exchange> shuffled(std::unique_ptr<transport::Exchange> inner, std::uint64_t seed);

}  // namespace detccl::test
