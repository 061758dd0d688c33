// SPDX-License-Identifier: Apache-2.0
// The element arithmetic as GPU code: element_cuda.sh compiles this and reads what came of it.
#include "contract/element.h"

namespace detccl::contract {

template <class Element>
__device__ void reduce_pair(const typename Element::Bits* a, const typename Element::Bits* b,
                            typename Element::Bits* out, std::uint32_t n) {
  const auto x = Element::load(*a);
  const auto y = Element::load(*b);
  out[0] = Element::average(combine<Op::sum, Element>(Element::multiply(x, y), y), n);
  out[1] = Element::store(combine<Op::prod, Element>(x, y));
  out[2] = Element::store(combine<Op::min, Element>(x, y));
  out[3] = Element::store(combine<Op::max, Element>(x, y));
}

#define DETCCL_KERNEL(name, ...)                                                                       \
  __global__ void name(const __VA_ARGS__::Bits* a, const __VA_ARGS__::Bits* b, __VA_ARGS__::Bits* out, \
                       std::uint32_t n) {                                                              \
    reduce_pair<__VA_ARGS__>(a, b, out, n);                                                            \
  }

DETCCL_KERNEL(int8, IntegerElement<std::int8_t>)
DETCCL_KERNEL(uint64, IntegerElement<std::uint64_t>)
DETCCL_KERNEL(float32, FloatElement<float>)
DETCCL_KERNEL(float64, FloatElement<double>)
DETCCL_KERNEL(float16, WideElement<Float16>)
DETCCL_KERNEL(bfloat16_native, NativeElement<Bfloat16>)
DETCCL_KERNEL(float8e4m3, WideElement<Float8E4M3>)
DETCCL_KERNEL(float8e5m2_native, NativeElement<Float8E5M2>)

}  // namespace detccl::contract
