// SPDX-License-Identifier: Apache-2.0
// Against the library in made_up_nvml.cc.
#include "nccl_api/nvml.h"

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "nccl_api/fabric.h"
#include "nccl_api/peer_choice.h"

namespace detccl::nccl_api {
namespace {

TEST(Nvml, KnowsAGpusFabric) {
  unsetenv("NCCL_MNNVL_ENABLE");
  const auto fabric = find_fabric("1");
  ASSERT_TRUE(fabric.has_value());
  EXPECT_EQ(fabric->cluster[0], 9);
  EXPECT_EQ(fabric->clique, 5u);
  EXPECT_FALSE(find_fabric("2").has_value()) << "has not registered yet";
  EXPECT_FALSE(find_fabric("7").has_value());
}

TEST(Nvml, KnowsWhichGpusNvlinkJoins) {
  unsetenv("NCCL_P2P_DISABLE");
  unsetenv("NCCL_P2P_LEVEL");
  std::vector<Hello> hellos(4);
  for (std::size_t rank = 0; rank < hellos.size(); ++rank)
    set_gpu(hellos[rank], std::to_string(rank));
  EXPECT_EQ(find_obstacle(nvml(), hellos, 0), "no NVLink joins it with rank 3");
  EXPECT_EQ(find_obstacle(nvml(), hellos, 1), std::nullopt);
  EXPECT_EQ(find_obstacle(nvml(), std::span(hellos).first(3), 0), std::nullopt);
}

}  // namespace
}  // namespace detccl::nccl_api
