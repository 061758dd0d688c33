# SPDX-License-Identifier: Apache-2.0
# Libraries from the distribution; scripts/setup installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)

# Headers only: libucp is opened at run time.
find_path(DETCCL_UCX_INCLUDE_DIR ucp/api/ucp.h REQUIRED)
add_library(detccl_ucx_headers INTERFACE)
add_library(detccl::ucx_headers ALIAS detccl_ucx_headers)
target_include_directories(detccl_ucx_headers SYSTEM INTERFACE ${DETCCL_UCX_INCLUDE_DIR})
