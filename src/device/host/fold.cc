// SPDX-License-Identifier: Apache-2.0
#include "device/host/fold.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "contract/float_environment.h"
#include "device/host/fold_isa.h"
#include "device/host/kernels.h"

namespace detccl::device::host {
namespace {

using contract::Op;
using contract::Order;
using plan::Form;

/// Bytes of an intermediate result. Small, so that many operands are read side by side as steady streams,
/// which the processor prefetches: with 16 operands out of memory this is twice as fast as whole pages in
/// turn.
constexpr std::size_t kBlockBytes = 512;

struct alignas(64) Block {
  std::byte bytes[kBlockBytes];
};

/// `n` elements of an operand or an intermediate result.
struct Source {
  const void* data;
  Storage storage;
};

/// The folds of one call, a block of elements after the other.
class Folder {
 public:
  Folder(Isa isa, const Arithmetic& a, std::span<const Operand> operands, void* result, Form result_form)
      : kernels_(kernels(isa, a.type, a.accumulate, a.op)),
        a_(a),
        operands_(operands),
        result_(static_cast<std::byte*>(result)),
        form_(result_form) {}

  void run(std::uint64_t count) {
    const std::size_t block = kBlockBytes / kernels_.value_size;
    for (first_ = 0; first_ < count; first_ += block) {
      n_ = static_cast<std::size_t>(std::min<std::uint64_t>(block, count - first_));
      fold_block();
    }
  }

 private:
  /// Operand i as it is, or PreMulSum's scaled value in `space`.
  Source leaf(const Operand& operand, Block& space) const {
    const auto* data = static_cast<const std::byte*>(operand.data) + first_ * element_size(a_, operand.form);
    if (operand.form == Form::raw && a_.op == Op::premulsum) {
      kernels_.scale(data, a_.scalar, space.bytes, n_);
      return {space.bytes, Storage::value};
    }
    const bool is_value = operand.form == Form::partial && kernels_.pack == nullptr;
    return {data, is_value ? Storage::value : Storage::payload};
  }

  void combine(Source a, Source b, void* out, Finish finish) const {
    if (a.storage == Storage::payload) std::swap(a, b);  // (+) is commutative, and the table half full
    const auto kernel =
        kernels_.combine[static_cast<int>(a.storage)][static_cast<int>(b.storage)][static_cast<int>(finish)];
    kernel(a.data, b.data, out, n_, a_.ranks);
  }

  /// T over `operands`, in `space` unless it is one operand that can be read where it is.
  Source tree(std::span<const Operand> operands, Block& space) const {
    if (operands.size() == 1) return leaf(operands[0], space);
    const std::size_t m = contract::tree_split(static_cast<std::uint32_t>(operands.size()));
    Block right_space;
    const Source left = tree(operands.first(m), space);
    const Source right = tree(operands.subspan(m), right_space);
    combine(left, right, space.bytes, Finish::keep);
    return {space.bytes, Storage::value};
  }

  /// The same for operands from left to right.
  Source linear(std::span<const Operand> operands, Block& space) const {
    Source sum = leaf(operands[0], space);
    Block scaled;
    for (const Operand& operand : operands.subspan(1)) {
      combine(sum, leaf(operand, scaled), space.bytes, Finish::keep);
      sum = {space.bytes, Storage::value};
    }
    return sum;
  }

  Source partial_result(std::span<const Operand> operands, Block& space) const {
    return a_.order == Order::tree ? tree(operands, space) : linear(operands, space);
  }

  void fold_block() const {
    std::byte* const out = result_ + first_ * element_size(a_, form_);
    Block left_space;
    if (form_ == Form::partial && kernels_.pack != nullptr) {
      const Source sum = values(partial_result(operands_, left_space), left_space);
      kernels_.pack(sum.data, out, n_, a_.ranks);
      return;
    }
    const Finish finish = form_ == Form::partial                     ? Finish::keep
                          : form_ == Form::final && a_.op == Op::avg ? Finish::average
                                                                     : Finish::round;
    if (operands_.size() == 1) {
      const Source only = leaf(operands_[0], left_space);
      kernels_.single[static_cast<int>(only.storage)][static_cast<int>(finish)](only.data, out, n_, a_.ranks);
      return;
    }
    // The last combination writes the result itself.
    const std::size_t m = a_.order == Order::tree
                              ? contract::tree_split(static_cast<std::uint32_t>(operands_.size()))
                              : operands_.size() - 1;
    Block right_space;
    const Source left = partial_result(operands_.first(m), left_space);
    const Source right = partial_result(operands_.subspan(m), right_space);
    combine(left, right, out, finish);
  }

  /// `source` as values, read into `space` if it is not.
  Source values(Source source, Block& space) const {
    if (source.storage == Storage::value) return source;
    kernels_.single[0][0](source.data, space.bytes, n_, a_.ranks);
    return {space.bytes, Storage::value};
  }

  const Kernels kernels_;
  const Arithmetic& a_;
  const std::span<const Operand> operands_;
  std::byte* const result_;
  const Form form_;
  std::uint64_t first_ = 0;  ///< the block's first element
  std::size_t n_ = 0;        ///< its elements
};

/// One rank's value that nothing was done to: its very bits are the result, those of a NaN too.
bool is_copy(const Arithmetic& a, const Operand& only, Form result_form) {
  if (only.form == Form::raw) return result_form == Form::final && a.op != Op::premulsum;
  return only.form == Form::partial && result_form == Form::partial;
}

}  // namespace

std::size_t element_size(const Arithmetic& a, Form form) {
  return contract::size_of(form == Form::partial ? contract::accumulation_type(a.type, a.accumulate)
                                                 : a.type);
}

void fold_on(Isa isa, const Arithmetic& a, std::span<const Operand> operands, void* result, Form result_form,
             std::uint64_t count) {
  if (count == 0) return;
  if (operands.size() == 1 && is_copy(a, operands[0], result_form)) {
    std::memmove(result, operands[0].data, count * element_size(a, result_form));
    return;
  }
  const contract::FloatEnvironment environment;
  Folder(isa, a, operands, result, result_form).run(count);
}

void fold(const Arithmetic& a, std::span<const Operand> operands, void* result, Form result_form,
          std::uint64_t count) {
  fold_on(best_isa(), a, operands, result, result_form, count);
}

}  // namespace detccl::device::host
