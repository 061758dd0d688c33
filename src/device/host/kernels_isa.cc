// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set, with DETCCL_KERNELS_ISA naming its namespace. Nothing that other
// translation units could share may be instantiated out of line here: the linker would keep one copy for all,
// perhaps one that this processor cannot run. So everything is internal to this file or always inlined.
#include "device/host/kernels_isa.h"

#include "device/host/loops.h"
#include "device/host/staged_loops.h"

namespace detccl::device::host::DETCCL_KERNELS_ISA {
namespace {

using contract::Accumulate;
using contract::DataType;

/// One loop per combination: for types whose values are their payload (one storage then), and wide bf16.
template <class Element>
struct Direct {
  static constexpr bool kSame = sizeof(typename Element::Bits) == sizeof(typename Element::Value);
  static constexpr Storage kPayload = kSame ? Storage::value : Storage::payload;
  static constexpr Kernels::Single kPack = nullptr;  // unfinished results are values

  template <Op kOp, Storage kA, Storage kB, Finish kFinish>
  static constexpr Kernels::Combine combine_loop() {
    return combine < Element, kOp, kA == Storage::value ? kA : kPayload, kB == Storage::value ? kB : kPayload,
           kFinish > ;
  }
  template <Storage kStorage, Finish kFinish>
  static constexpr Kernels::Single single_loop() {
    return single < Element, kStorage == Storage::value ? kStorage : kPayload, kFinish > ;
  }
  static void scale(const void* payload, std::uint64_t factor, void* values, std::size_t n) {
    multiply<Element, kPayload>(payload, Element::load(static_cast<typename Element::Bits>(factor)), values,
                                n);
  }
};

/// Through arrays of fp32.
template <class Format, bool kNative>
struct Staged {
  static constexpr Kernels::Single kPack = kNative ? pack<Format> : nullptr;

  template <Op kOp, Storage kA, Storage kB, Finish kFinish>
  static constexpr Kernels::Combine combine_loop() {
    constexpr bool kRounds = kOp != Op::min && kOp != Op::max;
    return combine_staged < Format, kNative && kRounds, kOp, kA, kB, kFinish > ;
  }
  template <Storage kStorage, Finish kFinish>
  static constexpr Kernels::Single single_loop() {
    if constexpr (kFinish != Finish::keep)
      return single_staged<Format, kStorage, kFinish>;
    else if constexpr (kStorage == Storage::payload)
      return read_payload<Format>;
    else
      return single<Fp32, Storage::value, Finish::keep>;
  }
  static void scale(const void* payload, std::uint64_t factor, void* values, std::size_t n) {
    scale_staged<Format, kNative>(payload, factor, values, n);
  }
};

template <class Loops, Op kOp, Finish kFinish>
void set_combine(Kernels& k) {
  constexpr auto kAt = static_cast<std::size_t>(kFinish);
  k.combine[0][0][kAt] = Loops::template combine_loop<kOp, Storage::payload, Storage::payload, kFinish>();
  k.combine[1][0][kAt] = Loops::template combine_loop<kOp, Storage::value, Storage::payload, kFinish>();
  k.combine[1][1][kAt] = Loops::template combine_loop<kOp, Storage::value, Storage::value, kFinish>();
}

template <class Loops, Op kOp>
void set_combines(Kernels& k) {
  set_combine<Loops, kOp, Finish::keep>(k);
  set_combine<Loops, kOp, Finish::round>(k);
}

template <class Loops, Storage kStorage>
void set_singles(Kernels::Single (&singles)[3]) {
  singles[0] = Loops::template single_loop<kStorage, Finish::keep>();
  singles[1] = Loops::template single_loop<kStorage, Finish::round>();
  singles[2] = Loops::template single_loop<kStorage, Finish::average>();
}

template <class Loops>
Kernels kernels_of(Op op, std::size_t value_size) {
  Kernels k;
  k.value_size = value_size;
  switch (op) {
    case Op::prod:
      set_combines<Loops, Op::prod>(k);
      break;
    case Op::min:
      set_combines<Loops, Op::min>(k);
      break;
    case Op::max:
      set_combines<Loops, Op::max>(k);
      break;
    case Op::sum:
    case Op::avg:
    case Op::premulsum:
      set_combines<Loops, Op::sum>(k);
      break;
  }
  if (op == Op::avg) set_combine<Loops, Op::sum, Finish::average>(k);
  set_singles<Loops, Storage::payload>(k.single[0]);
  set_singles<Loops, Storage::value>(k.single[1]);
  k.pack = Loops::kPack;
  k.scale = Loops::scale;
  return k;
}

/// Which loops an element class takes.
template <class Element>
struct LoopsOf {
  using Type = Direct<Element>;
};
template <class Format>
struct LoopsOf<contract::WideElement<Format>> {
  using Type = Staged<Format, false>;
};
template <>
struct LoopsOf<contract::WideElement<contract::Bfloat16>> {
  using Type = Direct<contract::WideElement<contract::Bfloat16>>;
};
template <class Format>
struct LoopsOf<contract::NativeElement<Format>> {
  using Type = Staged<Format, true>;
};

}  // namespace

Kernels kernels(DataType type, Accumulate accumulate, Op op) {
  return contract::visit_element(type, accumulate, [op]<class Element>(Element) {
    return kernels_of<typename LoopsOf<Element>::Type>(op, sizeof(typename Element::Value));
  });
}

}  // namespace detccl::device::host::DETCCL_KERNELS_ISA
