// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/config.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

namespace detccl::hostnccl {
namespace {

constexpr unsigned int kConfigMagic = 0xcafebeef;

struct Field {
  const char* name;
  int ncclConfig_t::*value;
  int least, greatest;
};

constexpr Field kFields[] = {
    {"blocking", &ncclConfig_t::blocking, 0, 1},
    {"cgaClusterSize", &ncclConfig_t::cgaClusterSize, 0, 8},
    {"minCTAs", &ncclConfig_t::minCTAs, 1, INT_MAX},
    {"maxCTAs", &ncclConfig_t::maxCTAs, 1, INT_MAX},
    {"splitShare", &ncclConfig_t::splitShare, 0, 1},
    {"trafficClass", &ncclConfig_t::trafficClass, 0, INT_MAX},
    {"collnetEnable", &ncclConfig_t::collnetEnable, 0, 1},
    {"CTAPolicy", &ncclConfig_t::CTAPolicy, NCCL_CTA_POLICY_DEFAULT,
     NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO},
    {"shrinkShare", &ncclConfig_t::shrinkShare, 0, 1},
    {"nvlsCTAs", &ncclConfig_t::nvlsCTAs, 1, INT_MAX},
    {"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, 1, 1024},
    {"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, 0, 1},
};

}  // namespace

Config read_config(const ncclConfig_t* config, const Config& defaults) {
  if (config == nullptr) return defaults;
  if (config->magic != kConfigMagic) {
    throw Error(ncclInvalidArgument, "an ncclConfig_t must be initialised with NCCL_CONFIG_INITIALIZER");
  }
  // A client compiled against an older nccl.h has a shorter structure: its other fields are undefined.
  ncclConfig_t fields = NCCL_CONFIG_INITIALIZER;
  std::memcpy(&fields, config, std::min(config->size, sizeof fields));
  for (const Field& field : kFields) {
    const int value = fields.*field.value;
    if (value != NCCL_CONFIG_UNDEF_INT && (value < field.least || value > field.greatest)) {
      throw Error(ncclInvalidArgument, fmt::format("ncclConfig_t.{} = {}: allowed is {} to {}", field.name,
                                                   value, field.least, field.greatest));
    }
  }
  if (fields.minCTAs != NCCL_CONFIG_UNDEF_INT && fields.maxCTAs != NCCL_CONFIG_UNDEF_INT &&
      fields.minCTAs > fields.maxCTAs) {
    throw Error(ncclInvalidArgument, fmt::format("ncclConfig_t.minCTAs = {} is above maxCTAs = {}",
                                                 fields.minCTAs, fields.maxCTAs));
  }
  // As NCCL has it, a given config does not inherit: what it leaves undefined is the default.
  return {fields.blocking != 0};
}

}  // namespace detccl::hostnccl
