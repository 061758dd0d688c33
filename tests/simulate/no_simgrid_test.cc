// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

TEST(Network, Simulates) {
  GTEST_SKIP() << "built without SimGrid (libsimgrid-dev): nothing is simulated";
}
