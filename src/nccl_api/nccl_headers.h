// SPDX-License-Identifier: Apache-2.0
// NCCL's header, its functions visible outside the library although everything else is hidden.
#pragma once

#pragma GCC visibility push(default)
#include <nccl.h>
extern "C" void ncclResetDebugInit(void);   // still exported, but newer headers
extern "C" void pncclResetDebugInit(void);  // no longer say so
#pragma GCC visibility pop
