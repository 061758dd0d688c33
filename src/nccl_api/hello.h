// SPDX-License-Identifier: Apache-2.0
// What each rank tells the others when a communicator is made: the settings, which must be the same
// everywhere, and how to reach its worker.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nccl_api/environment.h"

namespace detccl::nccl_api {

/// Fixed-size and trivially copyable: it travels as bytes.
struct Hello {
  using Text = std::array<char, 48>;  // zero-terminated, as all texts here
  static constexpr std::size_t kName = 128;

  std::array<char, 8> magic{};
  std::array<Text, 13> settings{};   ///< as written in the environment; see kSettingNames
  std::uint64_t address_bytes = 0;   ///< of the worker's address
  std::uint64_t host = 0;            ///< host_number()
  std::uint64_t domain = 0;          ///< domain_number(): ranks of the same one are near each other
  std::uint64_t process = 0;         ///< process_number()
  std::array<char, 32> gpu{};        ///< its PCI bus id; empty where it is not known, or on host memory
  std::uint32_t job_rank = 0;        ///< the process's number in its job
  std::uint32_t creation_order = 0;  ///< of the communicator, in the process
  std::uint64_t samples = 0;         ///< 1: on GPUs this rank can sample reductions (sample_choice.h)
  std::array<char, kName> name{};    ///< the communicator's, where the program gives it one
  std::array<char, 256> problem{};   ///< why this rank cannot take part; empty if it can
};

inline constexpr std::array<std::string_view, 14> kSettingNames = {"DetCCL's version",
                                                                   "DETCCL_CONTRACT",
                                                                   "DETCCL_SCHEDULE",
                                                                   "DETCCL_CHUNK",
                                                                   "DETCCL_PROVE",
                                                                   "DETCCL_SCRATCH",
                                                                   "DETCCL_FALLBACK",
                                                                   "NCCL_ALGO",
                                                                   "DETCCL_GROUP",
                                                                   "the figures of DETCCL_TUNING",
                                                                   "DETCCL_PROFILER_SHADOW",
                                                                   "DETCCL_PEER_BLOCKS",
                                                                   "DETCCL_PROFILER_CALIBRATE",
                                                                   "DETCCL_LANES"};

/// A number that no other process has, also where containers of a host have the same process ids.
std::uint64_t process_number();

Hello make_hello(const Configuration& configuration, std::size_t address_bytes, std::string_view problem);

/// NCCL_ALGO as the rank has it, where it matters.
void set_algorithms(Hello& hello, std::string_view text);

/// The rank's GPU.
void set_gpu(Hello& hello, std::string_view bus_id);
std::string_view gpu_of(const Hello& hello);

/// The communicator's name.
void set_name(Hello& hello, std::string_view name);
std::string_view name_of(const Hello& hello);

/// "ranks disagree on DETCCL_CONTRACT: tree on rank 0; linear on ranks 1-3", or nothing if all say the same.
/// hellos[r] is rank r's.
std::optional<std::string> find_disagreement(std::span<const Hello> hellos);

/// "rank 2: UCX cannot be loaded", or nothing if all ranks can take part.
std::optional<std::string> find_problem(std::span<const Hello> hellos);

/// For profilers: tells the job's communicators apart, the same on all ranks, from rank 0's host, process and
/// count. 1 for a communicator of one rank, which says no hello.
std::uint64_t communicator_number(std::span<const Hello> hellos);

/// "0-2, 5"; ascending.
std::string rank_list(std::span<const std::size_t> ranks);

}  // namespace detccl::nccl_api
