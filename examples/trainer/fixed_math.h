// SPDX-License-Identifier: Apache-2.0
// exp and log from correctly rounded operations in a fixed order: the C library's pick other code on other
// processors, and the training run shall give the same bits on all of them.
#pragma once

#include <cmath>

namespace trainer {

inline constexpr double kLn2High = 0x1.62e42fefa3800p-1;  ///< its low bits are zero: k * kLn2High is exact
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45;

/// e^x, to about 1e-15, for x <= 0; 0 below -700.
inline double fixed_exp(double x) {
  if (x < -700.0) return 0.0;
  const double k = std::floor(x * 0x1.71547652b82fep+0 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  double sum = 1.0;
  for (int term = 14; term >= 1; --term)
    sum = 1.0 + sum * r / term;
  return std::ldexp(sum, static_cast<int>(k));
}

/// The natural logarithm, to about 1e-15, of a positive finite x.
inline double fixed_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);  // log m = 2 (s + s^3/3 + s^5/5 + …), |s| < 0.172
  double sum = 0.0;
  for (int power = 23; power >= 1; power -= 2)
    sum = sum * s * s + 1.0 / power;
  return exponent * kLn2High + (exponent * kLn2Low + 2.0 * s * sum);
}

}  // namespace trainer
