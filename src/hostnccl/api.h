// SPDX-License-Identifier: Apache-2.0
// NCCL's header with its functions visible outside the library, although everything else is hidden, and the
// aliases under which NCCL exports them.
#pragma once

#pragma GCC visibility push(default)
#include <nccl.h>
// Still exported, but newer headers have only a macro that does nothing.
#undef ncclResetDebugInit
#undef pncclResetDebugInit
extern "C" void ncclResetDebugInit(void);
extern "C" void pncclResetDebugInit(void);
#pragma GCC visibility pop

/// Exports `function`, a weak alias of its p form, which is defined in the same file.
#define HOSTNCCL_EXPORT(function) \
  extern "C" __attribute__((weak, alias("p" #function), visibility("default"))) decltype(p##function) function
