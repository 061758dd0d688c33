// SPDX-License-Identifier: Apache-2.0
// What one rank saw in one case; printed as one line of JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace promises {

struct Result {
  std::uint64_t checks = 0;
  std::uint64_t failures = 0;
  std::uint64_t digest = 0xcbf29ce484222325u;  ///< FNV-1a of all results that were looked at, 64 bits
  std::string first_failure;
  std::string skipped;                    ///< why; empty where the case ran
  std::map<std::string, double> figures;  ///< measured, not judged

  void expect(bool condition, const std::string& what);
  void add_to_digest(const void* data, std::size_t bytes);
};

/// {"case":…,"rank":…,"checks":…,"failures":…,"digest":"…","seconds":…,"first_failure":…,"skipped":…,"figures":{…}}
std::string to_json(const std::string& name, int rank, const Result& result, double seconds);

}  // namespace promises
