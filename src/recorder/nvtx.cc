// SPDX-License-Identifier: Apache-2.0
#include "recorder/nvtx.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "recorder/context.h"

namespace detccl::recorder {
namespace {

constexpr const char* kVariable = "NVTX_INJECTION64_PATH";

/// The library that was named before this one. Never destroyed: a program may use NVTX until the very end.
std::string& earlier_injection() {
  static std::string& file = *new std::string;
  return file;
}

/// What a profiler has set, to be called as well.
std::atomic<nvtxRangePushA_impl_fntype> next_push_a{nullptr};
std::atomic<nvtxRangePushEx_impl_fntype> next_push_ex{nullptr};
std::atomic<nvtxRangePop_impl_fntype> next_pop{nullptr};
std::atomic<nvtxMarkA_impl_fntype> next_mark_a{nullptr};
std::atomic<nvtxMarkEx_impl_fntype> next_mark_ex{nullptr};

thread_local int depth = 0;  // what NVTX wants to hear of a push and a pop

const char* text_of(const nvtxEventAttributes_t* event) {
  return event != nullptr && event->messageType == NVTX_MESSAGE_TYPE_ASCII ? event->message.ascii : nullptr;
}

void note_mark(const char* text) {
  const auto step = text == nullptr ? std::nullopt : step_in(text);
  if (step) set_step(*step);
}

int NVTX_API push_a(const char* text) {
  push_range(text != nullptr ? text : "");
  const auto next = next_push_a.load();
  const int own = depth++;
  return next != nullptr ? next(text) : own;
}

int NVTX_API push_ex(const nvtxEventAttributes_t* event) {
  const char* text = text_of(event);
  push_range(text != nullptr ? text : "");
  const auto next = next_push_ex.load();
  const int own = depth++;
  return next != nullptr ? next(event) : own;
}

int NVTX_API pop() {
  pop_range();
  const auto next = next_pop.load();
  if (depth > 0) --depth;
  return next != nullptr ? next() : depth;
}

void NVTX_API mark_a(const char* text) {
  note_mark(text);
  if (const auto next = next_mark_a.load(); next != nullptr) next(text);
}

void NVTX_API mark_ex(const nvtxEventAttributes_t* event) {
  note_mark(text_of(event));
  if (const auto next = next_mark_ex.load(); next != nullptr) next(event);
}

/// The functions of the core module that are ours.
struct Slot {
  unsigned int callback;
  NvtxFunctionPointer ours;
  void (*keep)(NvtxFunctionPointer next);
};

template <class Function, std::atomic<Function>& next>
void keep(NvtxFunctionPointer function) {
  next = reinterpret_cast<Function>(function);
}

const std::array<Slot, 5> kSlots = {
    Slot{NVTX_CBID_CORE_RangePushA, reinterpret_cast<NvtxFunctionPointer>(push_a),
         keep<nvtxRangePushA_impl_fntype, next_push_a>},
    Slot{NVTX_CBID_CORE_RangePushEx, reinterpret_cast<NvtxFunctionPointer>(push_ex),
         keep<nvtxRangePushEx_impl_fntype, next_push_ex>},
    Slot{NVTX_CBID_CORE_RangePop, reinterpret_cast<NvtxFunctionPointer>(pop),
         keep<nvtxRangePop_impl_fntype, next_pop>},
    Slot{NVTX_CBID_CORE_MarkA, reinterpret_cast<NvtxFunctionPointer>(mark_a),
         keep<nvtxMarkA_impl_fntype, next_mark_a>},
    Slot{NVTX_CBID_CORE_MarkEx, reinterpret_cast<NvtxFunctionPointer>(mark_ex),
         keep<nvtxMarkEx_impl_fntype, next_mark_ex>},
};

/// Whether the library that was named before took place.
bool initialize_earlier(const void* (*get_export_table)(unsigned int)) {
  if (earlier_injection().empty()) return false;
  void* library = dlopen(earlier_injection().c_str(), RTLD_LAZY);
  void* function = library == nullptr ? nullptr : dlsym(library, "InitializeInjectionNvtx2");
  if (function == nullptr) return false;
  return reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(function)(get_export_table) != 0;
}

}  // namespace

void inject_nvtx(const char* file) {
  const char* before = std::getenv(kVariable);
  if (before != nullptr && std::string(before) != file) earlier_injection() = before;
  setenv(kVariable, file, 1);
}

int initialize_nvtx(const void* (*get_export_table)(unsigned int)) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 || table == nullptr)
    return 0;

  std::array<NvtxFunctionPointer, kSlots.size()> before{};
  for (std::size_t i = 0; i < kSlots.size(); ++i)
    before[i] = kSlots[i].callback < size ? *table[kSlots[i].callback] : nullptr;
  initialize_earlier(get_export_table);
  for (std::size_t i = 0; i < kSlots.size(); ++i) {
    if (kSlots[i].callback >= size) continue;
    NvtxFunctionPointer& slot = *table[kSlots[i].callback];
    if (slot != before[i]) kSlots[i].keep(slot);  // the profiler's
    slot = kSlots[i].ours;
  }
  return 1;
}

}  // namespace detccl::recorder
