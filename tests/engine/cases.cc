// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "contract/reference.h"

namespace detccl::test {
namespace {

using contract::DataType;

struct FloatFormat {
  unsigned exponent_bits, mantissa_bits;
};

FloatFormat format_of(DataType type) {
  switch (type) {
    case DataType::float16:
      return {5, 10};
    case DataType::bfloat16:
      return {8, 7};
    case DataType::float32:
      return {8, 23};
    case DataType::float64:
      return {11, 52};
    case DataType::float8e4m3:
      return {4, 3};
    default:
      return {5, 2};
  }
}

/// Any sign and mantissa, an exponent near that of 1; rarely any bits at all.
std::uint64_t random_value(DataType type, Random& random) {
  const std::uint64_t bits = random();
  if (contract::is_integer(type) || bits % 61 == 0) return random();
  const FloatFormat f = format_of(type);
  const std::uint64_t bias = (std::uint64_t{1} << (f.exponent_bits - 1)) - 1;
  const std::uint64_t exponent = bias - 2 + bits % 5;
  const std::uint64_t mantissa = random() & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  const std::uint64_t sign = bits >> 63 << (f.exponent_bits + f.mantissa_bits);
  return sign | exponent << f.mantissa_bits | mantissa;
}

template <class T>
T pick(Random& random, std::initializer_list<T> from) {
  return from.begin()[random() % from.size()];
}

}  // namespace

std::string describe(const Case& c) {
  const auto& s = c.settings;
  std::string text = std::string(plan::name(c.collective)) + " " + std::string(contract::name(c.op)) + " " +
                     std::string(contract::name(c.type)) + " count " + std::to_string(c.count) + " ranks " +
                     std::to_string(c.ranks) + " root " + std::to_string(c.root) + " contract " +
                     contract::to_string(s.contract) + " schedule " +
                     (s.schedule ? std::string(plan::name(*s.schedule)) : "chosen") + " chunk " +
                     std::to_string(s.chunk_bytes) + " scratch " + std::to_string(s.scratch_limit);
  if (c.in_place) text += " in place";
  return text + " misalignment " + std::to_string(c.misalignment) + " seed " + std::to_string(c.seed);
}

std::vector<contract::Contract> contracts_for(plan::Schedule schedule) {
  std::vector<contract::Contract> all;
  for (const char* text :
       {"tree", "linear", "tree:native", "linear:native", "tree:wide/2", "tree/8", "linear/4"}) {
    const contract::Contract c = contract::parse_contract(text).value();
    if (plan::supports(schedule, c)) all.push_back(c);
  }
  return all;
}

void randomise(Case& c, Random& random, std::uint64_t most) {
  c.type = static_cast<DataType>(random() % contract::kDataTypes);
  c.op = static_cast<contract::Op>(random() % contract::kOps);
  c.scalar = random_value(c.type, random);
  c.count = pick(random, {random() % 4, random() % (most / 4 + 1), random() % (most + 1)});
  c.root = static_cast<std::uint32_t>(random() % c.ranks);
  // In bytes; what is chosen by default, one chunk for all, some chunks, or many.
  c.settings.chunk_bytes =
      pick<std::size_t>(random, {0, std::size_t{1} << 30, 1 + random() % 200, 1 + random() % 5000});
  c.settings.scratch_limit = pick<std::size_t>(random, {16u << 20, 200000, 1 + random() % 5000});
  c.in_place = random() % 2 == 0;
  c.misalignment = pick<std::size_t>(random, {0, c.size(), random() % 64});
  c.seed = random();
}

Bytes input_of(const Case& c, std::uint32_t rank) {
  Random random(c.seed * 1000003 + rank);
  Bytes bytes(c.input_count() * c.size());
  for (std::uint64_t i = 0; i < c.input_count(); ++i) {
    const std::uint64_t value = random_value(c.type, random);
    std::memcpy(bytes.data() + i * c.size(), &value, c.size());
  }
  return bytes;
}

Bytes expected_of(const Case& c, std::uint32_t rank, const std::vector<Bytes>& inputs) {
  if (c.collective == plan::Collective::reduce && rank != c.root) return {};
  const std::size_t offset = c.collective == plan::Collective::reduce_scatter ? rank * c.count * c.size() : 0;
  std::vector<const void*> pointers;
  for (const Bytes& input : inputs)
    pointers.push_back(input.data() + offset);
  Bytes out(c.count * c.size());
  contract::reduce(c.settings.contract, c.type, c.op, pointers, out.data(), c.count, c.scalar);
  return out;
}

void Buffers::Free::operator()(std::byte* p) const {
  std::free(p);
}

Buffers::Memory Buffers::allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + 3 * kGuard + 63) / 64 * 64;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(64, whole)));
  std::memset(memory.get(), 0x5a, whole);
  return memory;
}

Buffers::Buffers(const Case& c, std::uint32_t rank)
    : case_(c),
      rank_(rank),
      has_output_(c.collective != plan::Collective::reduce || rank == c.root),
      original_(input_of(c, rank)),
      output_bytes_(has_output_ ? c.count * c.size() : 0),
      input_memory_(allocate(original_.size())) {
  std::copy(original_.begin(), original_.end(), input());
  if (has_output_ && !in_place()) output_memory_ = allocate(output_bytes_);
}

std::byte* Buffers::output_start() const {
  if (!in_place()) return output_memory_.get() + kGuard + case_.misalignment;
  return input() + (case_.collective == plan::Collective::reduce_scatter ? rank_ * output_bytes_ : 0);
}

engine::Reduction Buffers::call() const {
  return {case_.collective, case_.type, case_.op,
          case_.scalar,     input(),    has_output_ ? output_start() : nullptr,
          case_.count,      case_.root};
}

Bytes Buffers::output() const {
  if (!has_output_) return {};
  return {output_start(), output_start() + output_bytes_};
}

std::string Buffers::damage() const {
  const auto guarded = [](const std::byte* start, std::size_t bytes) {
    const auto intact = [](std::byte b) { return b == std::byte{0x5a}; };
    return std::all_of(start - kGuard, start, intact) &&
           std::all_of(start + bytes, start + bytes + kGuard, intact);
  };
  if (!guarded(input(), original_.size())) return "written around the input";
  if (has_output_ && !in_place() && !guarded(output_start(), output_bytes_))
    return "written around the output";
  for (std::size_t i = 0; i < original_.size(); ++i) {
    const std::byte* at = input() + i;
    if (in_place() && at >= output_start() && at < output_start() + output_bytes_) continue;
    if (*at != original_[i]) return "the input was written to";
  }
  return {};
}

}  // namespace detccl::test
