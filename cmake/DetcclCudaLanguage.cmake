# SPDX-License-Identifier: Apache-2.0
# CUDA as a language of the build, where there is a compiler for it (cmake/DetcclCuda.cmake).
#
# Inputs:  DETCCL_CUDA                build the GPU rooms; default: if there is an nvcc and no sanitizer
#          DETCCL_CUDA_ARCHITECTURES  as CMAKE_CUDA_ARCHITECTURES
# Outputs: detccl::cuda_options       what CUDA sources are compiled with

include_guard(GLOBAL)

set(detccl_cuda_default OFF)
if(DETCCL_NVCC AND TARGET detccl::cudart_static AND NOT DETCCL_SANITIZE)
  set(detccl_cuda_default ON)
endif()
option(DETCCL_CUDA "Build the GPU rooms" ${detccl_cuda_default})
set(DETCCL_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to compile for")
if(NOT DETCCL_CUDA)
  message(STATUS "GPU rooms: off")
  return()
endif()
message(STATUS "GPU rooms: for ${DETCCL_CUDA_ARCHITECTURES}")

set(CMAKE_CUDA_ARCHITECTURES ${DETCCL_CUDA_ARCHITECTURES})
if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()
if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
# Programs link the static runtime by name, detccl::cudart_static.
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
enable_language(CUDA)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know that nvcc speaks it
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)

add_library(detccl_cuda_options INTERFACE)
add_library(detccl::cuda_options ALIAS detccl_cuda_options)
target_link_libraries(detccl_cuda_options INTERFACE detccl::cuda_headers)
# The contract's arithmetic is never contracted, and keeps subnormals.
target_compile_options(
  detccl_cuda_options
  INTERFACE -fmad=false -ftz=false -prec-div=true -Werror=all-warnings
            -Xcompiler=-Wall,-Wextra,-Wshadow,-Werror,-ffp-contract=off)
