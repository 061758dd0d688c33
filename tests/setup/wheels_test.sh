# SPDX-License-Identifier: Apache-2.0
# A machine without CUDA toolkit and NCCL: setup brings the wheels, and a project builds from them alone.
# Usage: wheels_test.sh FOLDER; the wheels stay in FOLDER/prefix. Needs the package registries.
set -uo pipefail
. "$(dirname "$0")/testing.sh"
. "$repo/scripts/lib/common.sh"
. "$repo/scripts/lib/cuda.sh"

folder=$(realpath -m -- "$1")
prefix=$folder/prefix
build=$folder/build
mkdir -p "$folder"

# Nothing that is installed may be seen: empty folders over it, in a mount namespace of our own.
hidden=(env)
if can_unshare; then
  mounts=true
  # The inner folder first: a toolkit in /usr/local itself takes /usr/local/include with it.
  for dir in /usr/local/include "$(installed_cuda)"; do
    if [ -d "$dir" ]; then mounts+=" && mount -t tmpfs hidden '$dir'"; fi
  done
  if [ -f /usr/include/nccl.h ]; then mounts+=" && mount --bind /dev/null /usr/include/nccl.h"; fi
  hidden=(in_namespace "$mounts")
  expect 0 "hidden" "${hidden[@]}" bash -c \
    'cd "$0/scripts/lib" && . ./common.sh && . ./cuda.sh && ! installed_cuda && ! installed_nccl /usr && echo hidden' "$repo"
else
  echo "no mount namespaces here: the installed toolkit is ignored, not hidden"
fi

expect 0 "CUDA 13.0: $prefix/cuda, nccl.h: $prefix/nccl/include" \
  "$repo/scripts/setup" --force-wheels --prefix "$prefix"

# Again, with nothing to do, so without a network; and by itself where it sees no toolkit. Neither touches env.cmake.
written=$(stat -c %y "$prefix/env.cmake")
offline=(env)
if unshare --map-root-user --net true 2>/dev/null; then offline=(unshare --map-root-user --net); fi
expect 0 "everything is in place" "${offline[@]}" "$repo/scripts/setup" --force-wheels --prefix "$prefix"
if [ "${hidden[0]}" = in_namespace ]; then
  expect 0 "CUDA 13.0: $prefix/cuda, nccl.h: $prefix/nccl/include" \
    "${hidden[@]}" "$repo/scripts/setup" --prefix "$prefix"
fi
check "env.cmake is left alone" [ "$written" = "$(stat -c %y "$prefix/env.cmake")" ]

rm -rf "$build"
expect 0 "CUDA toolkit: $prefix/cuda" "${hidden[@]}" cmake -G Ninja -S "$repo/tests/setup/wheels_project" \
  -B "$build" -DDETCCL_PREFIX="$prefix" -DDETCCL_MODULES="$repo/cmake"
log=$(unset CUDACXX && "${hidden[@]}" ninja -v -C "$build" 2>&1)
check "the project builds: $log" [ $? -eq 0 ]
for arch in sm_80 sm_90 sm_100; do
  check "a kernel for $arch" grep -q "Compiling entry function .* for '$arch'" <<<"$log"
done
expect 0 "runtime 13000, NCCL 22809" "${hidden[@]}" "$build/wheels_project"

# Every CUDA and NCCL header came from the prefix.
headers=$(ninja -C "$build" -t deps | grep -E '/(cuda|nccl|nvtx|nvToolsExt)[^/]*\.h(pp)?$' | sort -u)
check "headers were recorded" grep -q "$prefix/nccl/include/nccl.h" <<<"$headers"
strangers=$(grep -vF " $prefix/" <<<"$headers")
check "headers from elsewhere: $strangers" [ -z "$strangers" ]

# What no package source has is named, with what needs it.
expect 1 "missing: no-such-package (needed for this test)" \
  "${install_rows[@]}" 'no-such-package cmd:no-such-program this test'
finish
