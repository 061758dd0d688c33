// SPDX-License-Identifier: Apache-2.0
// NVLink domains beyond a host: what NVIDIA's management library says about a GPU's fabric.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace detccl::nccl_api {

/// As NVML tells it of a GPU that has registered with its fabric.
struct Fabric {
  std::array<std::uint8_t, 16> cluster{};
  std::uint32_t clique = 0;
};

/// Nothing without NVML, on GPUs whose NVLink ends at the host, and with NCCL_MNNVL_ENABLE=0. `bus_id`: of
/// the GPU, as "0000:1b:00.0". Any thread.
std::optional<Fabric> find_fabric(const char* bus_id);

/// A number of the GPUs that reach each other over NVLink: of the fabric's cluster and clique, else the
/// host's.
std::uint64_t domain_number(const std::optional<Fabric>& fabric, std::uint64_t host);

}  // namespace detccl::nccl_api
