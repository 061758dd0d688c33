// SPDX-License-Identifier: Apache-2.0
// Linked with an NCCL that has a function which the preloaded library lacks.
extern "C" {
int ncclGetVersion(int* version);
int ncclCommResume(int* calls);
}

int main() {
  int version = 0, calls = 0;
  return ncclGetVersion(&version) == 0 && ncclCommResume(&calls) == 1 ? 0 : 1;
}
