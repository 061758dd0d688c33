// SPDX-License-Identifier: Apache-2.0
// NCCL's header, its functions visible outside the library although everything else is hidden.
#pragma once

#pragma GCC visibility push(default)
#include <nccl.h>
// Still exported, but newer headers have only a macro that does nothing.
#undef ncclResetDebugInit
#undef pncclResetDebugInit
extern "C" void ncclResetDebugInit(void);
extern "C" void pncclResetDebugInit(void);
#pragma GCC visibility pop
