// SPDX-License-Identifier: Apache-2.0
#include "versions.h"

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <ctime>
#include <fstream>

namespace detccl::perf {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string open_mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // "Open MPI v4.1.4, package: …": the rest names the machine that built it.
  std::string version(text.data());
  version = version.substr(0, version.find(','));
  const std::string prefix = "Open MPI v";
  return version.starts_with(prefix) ? version.substr(prefix.size()) : version;
}

std::string ucx_version() {
  void* library = dlopen("libucp.so.0", RTLD_NOW);
  if (library == nullptr) return "";
  const auto get =
      reinterpret_cast<void (*)(unsigned*, unsigned*, unsigned*)>(dlsym(library, "ucp_get_version"));
  if (get == nullptr) return "";
  unsigned major = 0, minor = 0, release = 0;
  get(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

std::string date_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace detccl::perf
