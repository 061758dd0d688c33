// SPDX-License-Identifier: Apache-2.0
#include "recorder/chunks.h"

#include <algorithm>

#include "fingerprint/digest.h"
#include "trace/writer.h"

namespace detccl::recorder {

Chunks chunks_of(std::uint64_t payload_bytes, std::uint64_t wanted) {
  if (payload_bytes == 0) return {};
  if (wanted == 0) return {payload_bytes, 1};
  while (fingerprint::chunk_count(payload_bytes, wanted) > trace::Writer::kMostChunks)
    wanted *= 2;
  return {wanted, fingerprint::chunk_count(payload_bytes, wanted)};
}

trace::ChunkTable chunk_table(std::uint64_t payload_bytes, std::uint64_t chunk_bytes, bool is_output,
                              std::span<const fingerprint::Sums> sums) {
  trace::ChunkTable table{0, payload_bytes, chunk_bytes, is_output, {}};
  table.digests.reserve(sums.size());
  for (std::uint64_t i = 0; i < sums.size(); ++i) {
    const std::uint64_t bytes = std::min(chunk_bytes, payload_bytes - i * chunk_bytes);
    const fingerprint::Digest digest = fingerprint::finish(sums[i], bytes);
    table.digests.push_back({digest.b, digest.a});
  }
  return table;
}

}  // namespace detccl::recorder
