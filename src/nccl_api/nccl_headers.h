// SPDX-License-Identifier: Apache-2.0
// NCCL's header, its functions visible outside the library although everything else is hidden.
#pragma once

#pragma GCC visibility push(default)
#include <nccl.h>
#pragma GCC visibility pop
