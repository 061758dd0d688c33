#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the compiler made of the loops, per instruction set: no fused multiply-add, which would round once
# where the contract rounds twice, and no function that the linker might share with other objects, which a
# processor without the instruction set would then run.
# Usage: kernels_objects.sh OBJECT...
set -eu
for object in "$@"; do
  code=$(objdump -d --no-show-raw-insn "$object")
  if echo "$code" | grep -E '[[:space:]](vf(n)?m(add|sub)|fmadd|fmsub|fnmadd|fnmsub|fml)'; then
    echo "$object: fused multiply-add" >&2
    exit 1
  fi
  if ! echo "$code" | grep -Eq '[[:space:]]v?(add|mul)ps|[[:space:]]f(add|mul)'; then
    echo "$object: no floating-point arithmetic found: is this the right object?" >&2
    exit 1
  fi
  if nm -C "$object" | grep -E ' [WwVvu] '; then
    echo "$object: functions that the linker may share" >&2
    exit 1
  fi
done
