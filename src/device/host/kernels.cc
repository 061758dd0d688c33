// SPDX-License-Identifier: Apache-2.0
#include "device/host/kernels.h"

#include "device/host/kernels_isa.h"

namespace detccl::device::host {

#if defined(DETCCL_KERNELS_X86_64)

namespace {

/// x86-64-v3; its other parts (F16C, LZCNT, MOVBE) came with these or before them.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

/// x86-64-v4.
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

bool has(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::baseline:
      return true;
    case Isa::avx2:
      return has_avx2();
    case Isa::avx512:
      break;
  }
  return has_avx512();
}

Kernels kernels(Isa isa, contract::DataType type, contract::Accumulate accumulate, contract::Op op) {
  switch (isa) {
    case Isa::baseline:
      return baseline::kernels(type, accumulate, op);
    case Isa::avx2:
      return avx2::kernels(type, accumulate, op);
    case Isa::avx512:
      break;
  }
  return avx512::kernels(type, accumulate, op);
}

#else

bool has(Isa isa) {
  return isa == Isa::baseline;
}

Kernels kernels(Isa, contract::DataType type, contract::Accumulate accumulate, contract::Op op) {
  return baseline::kernels(type, accumulate, op);
}

#endif

Isa best_isa() {
  if (has(Isa::avx512)) return Isa::avx512;
  return has(Isa::avx2) ? Isa::avx2 : Isa::baseline;
}

}  // namespace detccl::device::host
