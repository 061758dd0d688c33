// SPDX-License-Identifier: Apache-2.0
// Predictions as text, JSON and a page. All of them say that they are predicted.
#pragma once

#include <string>

#include "simulate/study.h"

namespace detccl::simulate {

std::string to_text(const Study& study);
std::string to_json(const Study& study);
std::string to_html(const Study& study);

/// "304 x 8 GPUs, h200, leaf switches of 32 x 8 GPUs, oversubscription 1".
std::string describe(const Platform& platform);
/// What was simulated how, in a sentence.
std::string method();

}  // namespace detccl::simulate
