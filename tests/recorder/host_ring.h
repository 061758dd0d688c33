// SPDX-License-Identifier: Apache-2.0
// A ring whose producers are threads of the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "recorder/ring.h"
#include "recorder/ring_reader.h"

namespace detccl::recorder {

struct HostMemory {
  using Word = std::uint64_t;
  static Word load(Word& x) { return std::atomic_ref(x).load(); }
  static void store(Word& x, Word value) { std::atomic_ref(x).store(value); }
  static Word load_from_host(Word& x) { return std::atomic_ref(x).load(std::memory_order_acquire); }
  static Word compare_exchange(Word& x, Word expected, Word value) {
    std::atomic_ref(x).compare_exchange_strong(expected, value);
    return expected;
  }
  static Word add(Word& x, Word value) { return std::atomic_ref(x).fetch_add(value); }
  static void maximum(Word& x, Word value) {
    Word now = load(x);
    while (now < value && !std::atomic_ref(x).compare_exchange_weak(now, value)) {
    }
  }
  static void publish(Word& x, Word value) { std::atomic_ref(x).store(value, std::memory_order_release); }
};

struct Memory {
  explicit Memory(std::uint64_t capacity) : slots(capacity) {}
  Ring ring() { return {slots.data(), &control, &state, slots.size()}; }
  RingReader reader() { return {slots.data(), &control, slots.size()}; }
  std::vector<Slot> slots;
  RingControl control;
  RingState state;
};

}  // namespace detccl::recorder
