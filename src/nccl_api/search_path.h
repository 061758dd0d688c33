// SPDX-License-Identifier: Apache-2.0
// Where an NCCL may lie that the loader cannot be asked for: it takes the shim, whose name is the same.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nccl_api/loaded_objects.h"

namespace detccl::nccl_api {

/// Files of the name `file` that exist, in the order in which the loader would have found them for the loaded
/// objects that were linked with libnccl.so.2, then for the other ones (a client that opens it by its name);
/// then in Python's packages; then what the loader finds for everybody. Each once.
std::vector<std::string> search_path(std::string_view file);

/// The folders in which the loader looks for what `objects` ask for that were linked with libnccl.so.2, or
/// that were not: their DT_RPATH, LD_LIBRARY_PATH, their DT_RUNPATH.
std::vector<std::string> loader_folders(std::span<const LoadedObject> objects, bool linked);

/// The folders `…/nvidia/nccl/lib` of the Python installations that the objects are from, or, where
/// `program` is a Python interpreter started as `arguments_0`, of its own.
std::vector<std::string> wheel_folders(std::span<const LoadedObject> objects, const std::string& program,
                                       const std::string& argument_0);

/// The paths that the loader's cache `cache_file` (ld.so.cache, as of glibc 2.2) has for the name `file`.
std::vector<std::string> in_loader_cache(const std::string& cache_file, std::string_view file);

}  // namespace detccl::nccl_api
