// SPDX-License-Identifier: Apache-2.0
#include "profile/range.h"

#include <nvtx3/nvToolsExt.h>

namespace detccl::profile {
namespace {

/// Null without a tool, or with one that knows no domains: then nothing must be marked, for null is the
/// program's own domain.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t the_domain = nvtxDomainCreateA("DetCCL");
  return the_domain;
}

std::uint64_t begin(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return nvtxDomainRangeStartEx(domain(), &attributes);
}

}  // namespace

bool Range::shown() {
  return domain() != nullptr;
}

Range::Range(const char* name) {
  turn_into(name);
}

void Range::turn_into(const char* name) {
  end();
  if (!shown()) return;
  number_ = begin(name);
  open_ = true;
}

void Range::end() {
  if (!open_) return;
  open_ = false;
  nvtxDomainRangeEnd(domain(), number_);
}

}  // namespace detccl::profile
