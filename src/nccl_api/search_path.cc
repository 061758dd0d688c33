// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/search_path.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace detccl::nccl_api {
namespace {

namespace fs = std::filesystem;

using Strings = std::vector<std::string>;

void append(Strings& list, const Strings& more) {
  list.insert(list.end(), more.begin(), more.end());
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The site-packages and dist-packages folders under `prefix`, which is a Python installation.
void add_packages(const fs::path& prefix, Strings& folders) {
  std::error_code none;
  Strings found;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", none)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      found.push_back(entry.path() / packages / "nvidia/nccl/lib");
  }
  std::sort(found.begin(), found.end());
  append(folders, found);
}

std::string argument_0() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  std::getline(file, text, '\0');
  return text;
}

/// The folder of the program that the shell would take for `name`.
fs::path folder_of_command(const std::string& name) {
  if (name.find('/') != std::string::npos) return fs::path(name).parent_path();
  for (const std::string& folder : folders_of(variable("PATH"), "")) {
    std::error_code none;
    if (fs::exists(fs::path(folder) / name, none)) return folder;
  }
  return {};
}

template <class T>
T read_at(const std::string& bytes, std::size_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof value)
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> loader_folders(std::span<const LoadedObject> objects, bool linked) {
  Strings folders;
  for (const LoadedObject& object : objects)
    if (object.needs_nccl == linked) append(folders, folders_of(object.rpath, object.path));
  append(folders, folders_of(variable("LD_LIBRARY_PATH"), ""));
  for (const LoadedObject& object : objects)
    if (object.needs_nccl == linked) append(folders, folders_of(object.runpath, object.path));
  return folders;
}

std::vector<std::string> wheel_folders(std::span<const LoadedObject> objects, const std::string& program,
                                       const std::string& argument_0) {
  Strings folders;
  for (const LoadedObject& object : objects) {
    for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
      const std::size_t at = object.path.rfind(packages);
      if (at != std::string::npos)
        folders.push_back(object.path.substr(0, at + packages.size()) + "nvidia/nccl/lib");
    }
  }
  if (!fs::path(program).filename().string().starts_with("python")) return folders;
  // A virtual environment's interpreter is a link to another one's, told apart only by its name.
  const fs::path started = folder_of_command(argument_0);
  for (const fs::path& bin : {started, fs::path(program).parent_path()}) {
    if (!bin.empty()) add_packages(bin.parent_path(), folders);
  }
  if (fs::path(program).parent_path() == "/usr/bin") add_packages("/usr/local", folders);
  return folders;
}

std::vector<std::string> in_loader_cache(const std::string& cache_file, std::string_view file) {
  std::ifstream stream(cache_file, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const std::size_t start = all.find("glibc-ld.so.cache1.1");
  if (start == std::string::npos) return {};
  const std::string cache = all.substr(start);
  constexpr std::size_t kCount = 20, kEntries = 48, kEntry = 24, kKey = 4, kValue = 8;
  const auto text = [&cache](std::size_t field) {
    const std::size_t offset = read_at<std::uint32_t>(cache, field);
    return offset == 0 || offset >= cache.size() ? std::string() : std::string(cache.c_str() + offset);
  };
  Strings paths;
  const std::size_t count = read_at<std::uint32_t>(cache, kCount);
  for (std::size_t i = 0; i < count && kEntries + (i + 1) * kEntry <= cache.size(); ++i) {
    const std::size_t entry = kEntries + i * kEntry;
    if (text(entry + kKey) == file) paths.push_back(text(entry + kValue));
  }
  return paths;
}

std::vector<std::string> search_path(std::string_view file) {
  const std::vector<LoadedObject> objects = loaded_objects();
  Strings folders = loader_folders(objects, true);
  append(folders, loader_folders(objects, false));
  const std::string program = objects.empty() ? "" : objects.front().path;
  append(folders, wheel_folders(objects, program, argument_0()));
  Strings candidates;
  for (const std::string& folder : folders)
    candidates.push_back(folder + "/" + std::string(file));
  append(candidates, in_loader_cache("/etc/ld.so.cache", file));
  for (const char* folder : {"/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"})
    candidates.push_back(folder + std::string(file));

  Strings files;
  for (const std::string& candidate : candidates) {
    std::error_code none;
    const fs::path path = fs::weakly_canonical(candidate, none);
    if (none || !fs::exists(path, none) || std::ranges::find(files, path.string()) != files.end()) continue;
    files.push_back(path);
  }
  return files;
}

}  // namespace detccl::nccl_api
