// SPDX-License-Identifier: Apache-2.0
// Where the real NCCL is: the library whose functions DetCCL stands in front of.
#pragma once

#include <string>
#include <string_view>

namespace detccl::nccl_api {

inline constexpr std::string_view kNcclName = "libnccl.so.2";

class RealLibrary {
 public:
  /// Looks in this order, and never finds DetCCL, neither the library that this code is part of nor another:
  /// 1. `requested` (a path or a name for the loader), if it is not empty: this one or none;
  /// 2. the next NCCL after this library in the program's symbol order, or one loaded already;
  /// 3. where no NVIDIA driver is installed, hostnccl/libnccl.so.2 beside this library;
  /// 4. what the loader finds as libnccl.so.2;
  /// 5. where that is none, or the shim: files of that name, as search_path.h has them;
  /// 6. hostnccl/libnccl.so.2 beside this library.
  /// What it loads stays loaded.
  static RealLibrary find(const std::string& requested);

  bool found() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }  ///< why nothing was found

  /// Whether it works on host memory (hostnccl).
  bool on_host() const { return symbol("detcclHostNcclVersion") != nullptr; }

  /// The function `name`, or nullptr.
  void* symbol(const char* name) const;

 private:
  bool adopt(void* handle);
  void load(const std::string& file);
  void adopt_loaded();
  void search(const std::string& name);
  void load_host_library();
  void note_problem(const std::string& text);

  void* handle_ = nullptr;  // of dlopen, or RTLD_NEXT
  std::string path_, problem_;
};

}  // namespace detccl::nccl_api
