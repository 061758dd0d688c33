// SPDX-License-Identifier: Apache-2.0
// Every environment variable of the library, in one table: its default, what it may be, what it means. The
// table drives the checks at communicator creation, the options of `detccl run` and the README.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/contract.h"
#include "plan/plan.h"
#include "plan/tuner/coefficients.h"

namespace detccl::nccl_api {

/// Blocks of the kernels over peer memory where that is not said: where every rank has a GPU of its own, and
/// where ranks share one, on which all their kernels have to run at the same time.
inline constexpr std::uint32_t kPeerBlocks = 32, kPeerBlocksShared = 8;

enum class LogLevel : std::uint8_t { error, warn, info, debug };

/// What the environment asks for.
struct Configuration {
  contract::Contract contract;
  std::optional<plan::Schedule> schedule;  ///< nothing: chosen by size and contract
  /// Schedule hier(peer,X): X. `schedule` is then hier(direct,X), for what does not go over peer memory.
  std::optional<plan::Schedule> rails;
  bool peer = false;                         ///< schedule peer: kernels over peer memory, GPUs only
  std::optional<std::uint32_t> peer_blocks;  ///< of those kernels; 0: none unless `peer`; nothing: chosen
  std::size_t chunk_bytes = 0;               ///< 0: chosen
  std::uint32_t lanes = 1;                   ///< as engine::Settings has it
  std::string tuning_file;                   ///< empty: none
  std::shared_ptr<const plan::tuner::Coefficients> tuning;  ///< what is in it
  std::uint32_t group = 0;                                  ///< ranks that are near each other; 0: found out
  std::size_t scratch_bytes = 0;                            ///< per communicator; 0: chosen
  LogLevel log = LogLevel::warn;
  bool prove = false;
  bool disable = false;
  bool trace = false;
  bool trace_times = false;           ///< also on GPUs; on the host they are always there
  std::size_t trace_chunk_bytes = 0;  ///< of the chunk tables; 0: none
  std::string trace_folder = "detccl-trace";
  std::pair<std::uint32_t, std::uint32_t> trace_steps{0, 0xffffffff};  ///< first and last
  std::vector<std::pair<std::uint32_t, std::uint32_t>> trace_ranks;    ///< ranges; empty: all
  bool fallback_native = false;                 ///< what cannot be honoured runs natively, instead of failing
  std::string nccl_library;                     ///< empty: searched for
  std::optional<std::chrono::seconds> timeout;  ///< 0: wait for ever; nothing: as long as usual
  std::uint32_t profiler_shadow = 0;            ///< one of so many reductions also runs natively; 0: none
  std::uint32_t profiler_calibrate = 0;         ///< so many of each class also run natively; 0: none
  std::uint32_t profiler_phases = 0;            ///< on GPUs: of one of so many, the phases; 0: of none
};

/// As one would write it in DETCCL_SCHEDULE.
std::string schedule_name(const Configuration& configuration);

struct Variable {
  std::string_view name;           ///< DETCCL_…
  std::string_view default_value;  ///< as one would write it; for the reader
  std::string_view syntax;         ///< what is allowed
  std::string_view meaning;
  /// The option of `detccl run` that sets it: "--chunk" for DETCCL_CHUNK.
  std::string option() const;
  bool is_switch() const { return syntax == "0|1"; }
  /// Takes the value over, or returns false where it is not allowed.
  bool (*parse)(std::string_view value, Configuration& configuration);
};

class Environment {
 public:
  static std::span<const Variable> variables();

  /// From "NAME=value" strings, the last one null, as in `environ`. Never fails: see problems().
  static Environment read(const char* const* entries);

  const Configuration& configuration() const { return configuration_; }

  /// A line for each bad value, unknown DETCCL_ name and combination that cannot be honoured, saying what is
  /// allowed. An empty value counts as not set.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void take(std::string_view name, std::string_view value);
  void check_combinations();
  void read_tuning();

  Configuration configuration_;
  std::vector<std::string> problems_;
};

/// "DETCCL_CONTRACT='x': allowed is …", or nothing if `value` is allowed for the variable `name` (a known
/// one).
std::optional<std::string> check_value(std::string_view name, std::string_view value);

}  // namespace detccl::nccl_api
