// SPDX-License-Identifier: Apache-2.0
// Opens the NCCL library that it is given and asks for its version, no more.
#include <dlfcn.h>

int main(int argc, char** argv) {
  void* handle = argc == 2 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  void* function = handle == nullptr ? nullptr : dlsym(handle, "ncclGetVersion");
  int version = 0;
  return function != nullptr && reinterpret_cast<int (*)(int*)>(function)(&version) == 0 ? 0 : 1;
}
