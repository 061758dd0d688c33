# SPDX-License-Identifier: Apache-2.0
# NCCL's headers, those that scripts/setup chose. The library itself is not needed to build.
#
# Inputs:  DETCCL_PREFIX, as in DetcclCuda.cmake
#          DETCCL_NCCL_INCLUDE_DIR  the folder of an nccl.h, to overrule that choice
# Outputs: detccl::nccl_headers     nccl.h and the CUDA headers that it includes, as system headers

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/DetcclCuda.cmake")

if(NOT DETCCL_NCCL_INCLUDE_DIR)
  set(DETCCL_NCCL_INCLUDE_DIR "${DETCCL_SETUP_NCCL_INCLUDE_DIR}")
endif()
if(NOT DETCCL_NCCL_INCLUDE_DIR)
  find_path(DETCCL_PATH_NCCL nccl.h HINTS "${DETCCL_CUDA_ROOT}/include")
  mark_as_advanced(DETCCL_PATH_NCCL)
  set(DETCCL_NCCL_INCLUDE_DIR "${DETCCL_PATH_NCCL}")
endif()
if(NOT EXISTS "${DETCCL_NCCL_INCLUDE_DIR}/nccl.h")
  message(FATAL_ERROR "No nccl.h in '${DETCCL_NCCL_INCLUDE_DIR}': run scripts/setup")
endif()
file(STRINGS "${DETCCL_NCCL_INCLUDE_DIR}/nccl.h" detccl_nccl_code REGEX "^#define NCCL_VERSION_CODE [0-9]+")
string(REGEX REPLACE "^#define NCCL_VERSION_CODE ([0-9]+).*$" "\\1" detccl_nccl_code "${detccl_nccl_code}")
if(NOT detccl_nccl_code GREATER_EQUAL 22809)
  message(FATAL_ERROR "${DETCCL_NCCL_INCLUDE_DIR}/nccl.h is older than NCCL 2.28.9: run scripts/setup")
endif()

add_library(detccl::nccl_headers INTERFACE IMPORTED GLOBAL)
target_include_directories(detccl::nccl_headers INTERFACE "${DETCCL_NCCL_INCLUDE_DIR}")
target_link_libraries(detccl::nccl_headers INTERFACE detccl::cuda_headers)
message(STATUS "NCCL headers: ${DETCCL_NCCL_INCLUDE_DIR} (${detccl_nccl_code})")
