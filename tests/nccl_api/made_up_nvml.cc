// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1 for tests: knows GPUs "0" to "3", each registered with a fabric; NVLink joins all but 0
// and 3.
#include <cstring>

namespace {

bool initialised = false;
int numbers[] = {0, 1, 2, 3};

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

int nvmlInit_v2();
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device);
int nvmlDeviceGetGpuFabricInfoV(void* device, void* info);
int nvmlDeviceGetP2PStatus(void* device, void* other, int capability, int* status);

int nvmlInit_v2() {
  initialised = true;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (!initialised) return 1;
  if (bus_id[0] < '0' || bus_id[0] > '3' || bus_id[1] != '\0') return 6;
  *device = &numbers[bus_id[0] - '0'];
  return 0;
}

/// Version 2: 4 bytes of version, 16 of the cluster, 4 each of status and clique, 1 of state, 4 of health.
int nvmlDeviceGetGpuFabricInfoV(void* device, void* info) {
  auto* const bytes = static_cast<unsigned char*>(info);
  const unsigned version = 36 | 2u << 24, clique = 5;
  if (std::memcmp(bytes, &version, sizeof version) != 0) return 25;
  std::memset(bytes + 4, 0, 32);
  bytes[4] = 9;
  std::memcpy(bytes + 24, &clique, sizeof clique);
  bytes[28] = *static_cast<int*>(device) == 2 ? 2 : 3;  // GPU 2 is still registering
  return 0;
}

int nvmlDeviceGetP2PStatus(void* device, void* other, int capability, int* status) {
  const int a = *static_cast<int*>(device), b = *static_cast<int*>(other);
  if (capability != 2) return 2;
  *status = a + b == 3 && a * b == 0 ? 5 : 0;
  return 0;
}
}

#pragma GCC visibility pop
