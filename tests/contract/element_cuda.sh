#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The element arithmetic compiles for GPUs, to separate additions and multiplications that round to nearest
# and flush nothing: a fused one, or a flushing one, would change bits.
# Usage: element_cuda.sh NVCC HOST_COMPILER SOURCE_DIRECTORY
set -eu
ptx=$("$1" -ccbin "$2" -std=c++20 -arch=compute_80 --ptx -I "$3/src" "$3/tests/contract/element_cuda.cu" -o -)
for needed in add.rn.f32 mul.rn.f32 div.rn.f32 add.rn.f64 mul.rn.f64 div.rn.f64; do
  if ! echo "$ptx" | grep -q "$needed"; then
    echo "no $needed in the code" >&2
    exit 1
  fi
done
if echo "$ptx" | grep -E 'fma\.|\.ftz'; then
  echo "fused or flushing arithmetic in the code" >&2
  exit 1
fi
