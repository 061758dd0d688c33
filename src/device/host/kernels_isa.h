// SPDX-License-Identifier: Apache-2.0
// kernels_isa.cc is compiled once per instruction set, each time into a namespace of its own.
#pragma once

#include "device/host/kernels.h"

namespace detccl::device::host {

namespace baseline {
Kernels kernels(contract::DataType type, contract::Accumulate accumulate, contract::Op op);
}
namespace avx2 {
Kernels kernels(contract::DataType type, contract::Accumulate accumulate, contract::Op op);
}
namespace avx512 {
Kernels kernels(contract::DataType type, contract::Accumulate accumulate, contract::Op op);
}

}  // namespace detccl::device::host
