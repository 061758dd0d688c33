// SPDX-License-Identifier: Apache-2.0
// The programs and libraries that are loaded in this process, as far as the search for NCCL asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace detccl::nccl_api {

struct LoadedObject {
  std::string path;         ///< the program's own, too
  std::string rpath{};      ///< DT_RPATH: folders separated by ':'; searched before LD_LIBRARY_PATH
  std::string runpath{};    ///< DT_RUNPATH, likewise, after it
  bool needs_nccl = false;  ///< it was linked with libnccl.so.2
};

/// In load order, the program first. Any thread.
std::vector<LoadedObject> loaded_objects();

/// The folders of a DT_RPATH or DT_RUNPATH of the file `object`, $ORIGIN replaced by the file's folder.
std::vector<std::string> folders_of(std::string_view paths, std::string_view object);

}  // namespace detccl::nccl_api
