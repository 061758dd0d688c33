// SPDX-License-Identifier: Apache-2.0
// A range of the program's time for tools (NVTX), as training frameworks mark theirs; nothing happens without
// a tool.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace trainer {

class RangeMark {
 public:
  explicit RangeMark(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~RangeMark() { nvtxRangePop(); }
  RangeMark(const RangeMark&) = delete;
  RangeMark& operator=(const RangeMark&) = delete;
};

}  // namespace trainer
