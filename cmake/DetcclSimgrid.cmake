# SPDX-License-Identifier: Apache-2.0
# SimGrid, for the predictions of `detccl simulate`; optional: DETCCL_SIMGRID says whether it is there. Its
# actors have stacks of their own, which sanitizers do not know.
find_path(DETCCL_SIMGRID_INCLUDE_DIR simgrid/s4u.hpp)
find_library(DETCCL_SIMGRID_LIBRARY simgrid)
set(DETCCL_SIMGRID OFF)
if(DETCCL_SIMGRID_INCLUDE_DIR AND DETCCL_SIMGRID_LIBRARY AND NOT DETCCL_SANITIZE)
  set(DETCCL_SIMGRID ON)
  add_library(detccl_simgrid INTERFACE)
  add_library(detccl::simgrid ALIAS detccl_simgrid)
  target_include_directories(detccl_simgrid SYSTEM INTERFACE ${DETCCL_SIMGRID_INCLUDE_DIR})
  target_link_libraries(detccl_simgrid INTERFACE ${DETCCL_SIMGRID_LIBRARY})
else()
  message(STATUS "No SimGrid (libsimgrid-dev), or a sanitizer build: no `detccl simulate`")
endif()
