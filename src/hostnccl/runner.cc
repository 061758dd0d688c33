// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/runner.h"

#include "engine/drive.h"
#include "hostnccl/track.h"

namespace detccl::hostnccl {

void run(const std::vector<Batch>& batches) {
  std::vector<std::unique_ptr<Track>> tracks;
  for (const Batch& batch : batches)
    tracks.push_back(std::make_unique<Track>(batch));
  engine::drive(tracks);
  for (const auto& track : tracks) {
    if (track->error()) throw *track->error();
  }
}

}  // namespace detccl::hostnccl
