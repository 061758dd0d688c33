# SPDX-License-Identifier: Apache-2.0
# The CUDA toolkit that scripts/setup chose, an installed one or the wheels in DETCCL_PREFIX.
#
# Inputs:  DETCCL_PREFIX     the private prefix of scripts/setup (default: .deps in the repository)
#          DETCCL_CUDA_ROOT  a toolkit's root, to overrule that choice
# Outputs: detccl::cuda_headers   the toolkit's headers, as system headers
#          detccl::cudart_static  the static runtime, with the headers; only if the toolkit has it
#          DETCCL_NVCC            the compiler, or empty; also the default CMAKE_CUDA_COMPILER

include_guard(GLOBAL)

set(DETCCL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../.deps" CACHE PATH "Private prefix of scripts/setup")

include("${DETCCL_PREFIX}/env.cmake" OPTIONAL)  # DETCCL_SETUP_CUDA_ROOT, DETCCL_SETUP_NCCL_INCLUDE_DIR
if(NOT DETCCL_CUDA_ROOT)
  set(DETCCL_CUDA_ROOT "${DETCCL_SETUP_CUDA_ROOT}")
endif()
if(NOT DETCCL_CUDA_ROOT)
  # Setup was never called here: take the installed toolkit, if there is one.
  find_program(DETCCL_PATH_NVCC nvcc PATHS /usr/local/cuda/bin)
  mark_as_advanced(DETCCL_PATH_NVCC)
  if(DETCCL_PATH_NVCC)
    file(REAL_PATH "${DETCCL_PATH_NVCC}" detccl_real_nvcc)
    cmake_path(GET detccl_real_nvcc PARENT_PATH DETCCL_CUDA_ROOT)
    cmake_path(GET DETCCL_CUDA_ROOT PARENT_PATH DETCCL_CUDA_ROOT)
  endif()
endif()
if(NOT EXISTS "${DETCCL_CUDA_ROOT}/include/cuda_runtime.h")
  message(FATAL_ERROR "No CUDA headers in '${DETCCL_CUDA_ROOT}/include': run scripts/setup")
endif()

add_library(detccl::cuda_headers INTERFACE IMPORTED GLOBAL)
target_include_directories(detccl::cuda_headers INTERFACE "${DETCCL_CUDA_ROOT}/include")
if(EXISTS "${DETCCL_CUDA_ROOT}/include/cccl")
  target_include_directories(detccl::cuda_headers INTERFACE "${DETCCL_CUDA_ROOT}/include/cccl")
endif()

foreach(detccl_lib lib64 lib)
  if(NOT TARGET detccl::cudart_static AND EXISTS "${DETCCL_CUDA_ROOT}/${detccl_lib}/libcudart_static.a")
    find_package(Threads REQUIRED)
    add_library(detccl::cudart_static STATIC IMPORTED GLOBAL)
    set_target_properties(detccl::cudart_static PROPERTIES
      IMPORTED_LOCATION "${DETCCL_CUDA_ROOT}/${detccl_lib}/libcudart_static.a")
    target_link_libraries(detccl::cudart_static INTERFACE
      detccl::cuda_headers Threads::Threads ${CMAKE_DL_LIBS} rt)
  endif()
endforeach()

set(DETCCL_NVCC "")
if(EXISTS "${DETCCL_CUDA_ROOT}/bin/nvcc")
  set(DETCCL_NVCC "${DETCCL_CUDA_ROOT}/bin/nvcc")
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER "${DETCCL_NVCC}" CACHE FILEPATH "CUDA compiler")
  endif()
endif()
message(STATUS "CUDA toolkit: ${DETCCL_CUDA_ROOT}")
