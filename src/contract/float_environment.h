// SPDX-License-Identifier: Apache-2.0
// The floating-point environment that the contract is defined in, whatever the caller's is.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace detccl::contract {

/// While it lives, this thread rounds to nearest even, keeps subnormals, and traps nothing. The compiler may
/// move arithmetic across its construction: do the arithmetic in a function that it cannot see into (noipa,
/// or called through a pointer).
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  FloatEnvironment() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1f80);
  }  // all exceptions masked, all modes off
  ~FloatEnvironment() {
    _mm_setcsr(saved_);
  }
#else
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() {
    std::fesetenv(&saved_);
  }
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace detccl::contract
