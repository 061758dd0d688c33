// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/run.h"

#include "engine/drive.h"

namespace detccl::nccl_api {

ncclResult_t run(const std::vector<std::unique_ptr<Lane>>& lanes) {
  engine::drive(lanes);
  for (const auto& lane : lanes) {
    if (lane->result() != ncclSuccess) return lane->result();
  }
  return ncclSuccess;
}

}  // namespace detccl::nccl_api
