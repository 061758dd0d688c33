// SPDX-License-Identifier: Apache-2.0
// A library that calls NCCL, as an extension module of a framework does.
#include <nccl.h>

extern "C" __attribute__((visibility("default"))) int version_of_nccl() {
  int version = 0;
  return ncclGetVersion(&version) == ncclSuccess ? version : 0;
}
