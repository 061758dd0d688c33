// SPDX-License-Identifier: Apache-2.0
// A tool that listens to NVTX: it counts the ranges of each domain by name, and says so at the end. Ranges
// that end twice, or never began, it calls wrong.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <string>

namespace {

struct Heard {
  std::mutex mutex;
  std::map<const void*, std::string> domains;
  std::map<std::string, int> ranges;
  std::map<nvtxRangeId_t, const void*> open;
  nvtxRangeId_t last = 0;
  int wrong = 0;
};
Heard& heard() {
  static Heard& all = *new Heard;
  return all;
}

nvtxDomainHandle_t NVTX_API create(const char* name) {
  Heard& h = heard();
  const std::lock_guard lock(h.mutex);
  auto* domain = new char;
  h.domains[domain] = name;
  return reinterpret_cast<nvtxDomainHandle_t>(domain);
}

nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  Heard& h = heard();
  const std::lock_guard lock(h.mutex);
  ++h.ranges[h.domains.at(domain) + ":" + event->message.ascii];
  h.open[++h.last] = domain;
  return h.last;
}

void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  Heard& h = heard();
  const std::lock_guard lock(h.mutex);
  const auto found = h.open.find(range);
  if (found == h.open.end() || found->second != domain)
    ++h.wrong;
  else
    h.open.erase(found);
}

[[gnu::destructor]] void report() {
  Heard& h = heard();
  const std::lock_guard lock(h.mutex);
  std::string text =
      "nvtx: open " + std::to_string(h.open.size()) + " wrong " + std::to_string(h.wrong) + "\n";
  for (const auto& [name, count] : h.ranges)
    text += "nvtx: " + name + " " + std::to_string(count) + "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*get)(unsigned int)) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create);
  *table[NVTX_CBID_CORE2_DomainRangeStartEx] = reinterpret_cast<NvtxFunctionPointer>(start);
  *table[NVTX_CBID_CORE2_DomainRangeEnd] = reinterpret_cast<NvtxFunctionPointer>(end);
  return 1;
}
}
