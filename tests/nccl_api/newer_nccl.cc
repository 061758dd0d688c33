// SPDX-License-Identifier: Apache-2.0
// Functions under names that NCCL has from 2.28 to 2.32 on, with arguments and results in every place where
// the calling conventions put them.
#pragma GCC visibility push(default)
extern "C" {

struct Team {
  int ranks, rank, stride;
};

Team ncclTeamWorld(void* comm) {
  return {*static_cast<int*>(comm), 1, -7};
}

double ncclParamGet(int a, double x, long b, double y, unsigned c, float z, int d, double u, int e, double v,
                    int f, double w, int g, double s, int h, double t, double last) {
  return a + 2.0 * static_cast<double>(b) + 3.0 * c + 4.0 * d + 5.0 * e + 6.0 * f + 7.0 * g + 8.0 * h +
         10 * x + 20 * y + 30 * static_cast<double>(z) + 40 * u + 50 * v + 60 * w + 70 * s + 80 * t +
         90 * last;
}

int ncclAllReduceConfig(const void*, void*, unsigned long count, int, int, void*, void*, const void* config) {
  *static_cast<int*>(const_cast<void*>(config)) = static_cast<int>(count);
  return 0;
}

int ncclCommResume(int* calls) {
  return ++*calls;
}

int ncclPutSignal(void* local, unsigned long count, int type, int peer, void* window, unsigned long offset,
                  int signal, int context, unsigned flags, void* comm, void* stream) {
  const bool null = window == nullptr && comm == nullptr && stream == nullptr;
  *static_cast<unsigned long*>(local) =
      null ? count + 10 * static_cast<unsigned long>(type + 10 * peer) + 1000 * offset +
                 10000 * static_cast<unsigned long>(signal + 10 * context) + 1000000 * flags
           : 0;
  return 0;
}

int ncclBroadcastConfig(const void*, void* receive, unsigned long count, int, int root, void*, void*,
                        const void* config) {
  *static_cast<int*>(receive) = *static_cast<const int*>(config) + static_cast<int>(count) + root;
  return 0;
}

int ncclCommGrow(void*, int ranks, const void* id, int rank, void** grown, void* config) {
  *grown = nullptr;
  return ranks == 3 && id == nullptr && rank == -1 && config == nullptr ? 0 : 1;
}
}
#pragma GCC visibility pop
