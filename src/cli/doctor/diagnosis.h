// SPDX-License-Identifier: Apache-2.0
// What `detccl doctor` has found out.
#pragma once

#include <string>
#include <vector>

namespace detccl::cli {

/// An NCCL in a process.
struct NcclFound {
  std::string file, version;   ///< the version is empty if it is not known
  bool contained = false;      ///< in a program, or in a library that is none of NCCL's: statically linked
  bool behind_detccl = false;  ///< DetCCL has looked its functions up
  bool operator==(const NcclFound&) const = default;
};

/// An object that calls NCCL's functions.
struct ClientFound {
  std::string file;
  std::string how;       ///< "linked", "looked up", or "linked, not called yet"
  std::string function;  ///< the file whose functions it gets
  bool reaches_detccl = false;
  bool operator==(const ClientFound&) const = default;
};

struct ProcessFound {
  int pid = 0;    ///< of the first one
  int alike = 1;  ///< processes in which it was the same
  std::string program;
  std::string detccl;  ///< the DetCCL that is loaded; empty if none
  std::vector<NcclFound> nccls;
  std::vector<ClientFound> clients;
};

struct Diagnosis {
  std::string command, program;         ///< as given, and the file
  std::string placed, why, ended;       ///< the DetCCL that was preloaded; how the command ended
  std::vector<ProcessFound> processes;  ///< those with an NCCL
  std::vector<std::string> problems, notes;
};

}  // namespace detccl::cli
