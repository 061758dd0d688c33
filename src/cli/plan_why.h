// SPDX-License-Identifier: Apache-2.0
// `detccl plan --why`: which schedule and chunk a call gets, what else there was, and what tells them apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/choice.h"

namespace detccl::cli {

struct Why {
  plan::tuner::Question question;
  plan::tuner::Coefficients coefficients;
  std::string figures;                  ///< where they are from
  std::vector<engine::Option> options;  ///< from the quickest to the slowest
  std::size_t chosen = 0, rule = 0;     ///< which of them
  std::string reason;                   ///< one line
  std::string note;                     ///< one line, where the job may not go by plans at all; else empty
};

/// `tuning`: a file, or a name for plan::tuner::built_in(); empty: none, as in a job without DETCCL_TUNING.
/// Throws std::invalid_argument where it cannot be read.
Why explain(engine::Settings settings, plan::tuner::Question question, bool host, const std::string& tuning);

/// Both end with a newline.
std::string to_text(const Why& why);
std::string to_json(const Why& why);

}  // namespace detccl::cli
