// SPDX-License-Identifier: Apache-2.0
// Sealing: a trace file written anew, packed, and closed if its writer could not.
#pragma once

#include <cstdint>
#include <string>

namespace detccl::trace {

struct Sealed {
  std::uint64_t bytes_before = 0, bytes_after = 0;
  bool was_whole = true;  ///< else it ended early, and the sealed file has what could be read
};

/// Replaces the file at once (rename), keeping every record that can be read. False, and the reason in
/// `error`, if that fails: the file is then as it was. Not for files that are still being written.
bool seal(const std::string& path, Sealed& sealed, std::string& error);

}  // namespace detccl::trace
