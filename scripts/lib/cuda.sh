# SPDX-License-Identifier: Apache-2.0
# The CUDA toolkit and NCCL's headers: the installed ones, or wheels in a private prefix; sourced by
# setup. The answer is written to PREFIX/env.cmake, and the build looks nowhere else.

# nvcc 12.8 is the first that compiles for every architecture up to sm_100.
oldest_cuda=12.8
oldest_nccl_code=22809  # the first with ncclCommRevoke

# cuda_version ROOT: the toolkit's version, e.g. 13.0; nothing if it has no nvcc.
cuda_version() {
  "$1/bin/nvcc" --version 2>/dev/null | sed -n 's/^.*release \([0-9.]*\),.*$/\1/p'
}

# installed_cuda: the root of the installed toolkit, if it is complete and new enough.
installed_cuda() {
  local nvcc root
  for nvcc in "$(command -v nvcc)" /usr/local/cuda/bin/nvcc; do
    root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    if [ -x "$root/bin/nvcc" ] && [ -f "$root/include/cuda_runtime.h" ] &&
      version_at_least "$(cuda_version "$root")" $oldest_cuda; then
      echo "$root"
      return 0
    fi
  done
  return 1
}

# nccl_code DIR: NCCL_VERSION_CODE of DIR/nccl.h, 0 if there is none.
nccl_code() {
  local code
  code=$(sed -n 's/^#define NCCL_VERSION_CODE \([0-9]*\).*$/\1/p' "$1/nccl.h" 2>/dev/null) || true
  echo "${code:-0}"
}

# installed_nccl CUDA_ROOT: the folder of an installed nccl.h that is new enough.
installed_nccl() {
  local dir
  for dir in "$1/include" /usr/local/include /usr/include; do
    if [ "$(nccl_code "$dir")" -ge $oldest_nccl_code ]; then
      echo "$dir"
      return 0
    fi
  done
  return 1
}

# wheels_present PREFIX NAME: whether PREFIX/NAME holds just what NAME-wheels.txt pins.
wheels_present() { cmp -s "$lib/$2-wheels.txt" "$1/$2/wheels.txt"; }

# install_wheels PREFIX NAME SUBFOLDER: unpacks NAME-wheels.txt and keeps their SUBFOLDER as PREFIX/NAME.
install_wheels() {
  local prefix=$1 name=$2 subfolder=$3 new=$1/.$2.new
  rm -rf "$new"
  mkdir -p "$new"
  say "fetching the $name wheels into $prefix/$name"
  python3 -m venv "$new/venv" || die "cannot make a Python environment for the $name wheels"
  # The wheels' libraries are never run here, so their own dependencies are not wanted.
  "$new/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
    --only-binary :all: --target "$new/wheels" -r "$lib/$name-wheels.txt" ||
    die "cannot fetch the $name wheels ($(wheel_names "$name")), needed to build without an installed $name"
  local root=$new/wheels/$subfolder
  mkdir "$root/licenses"
  local info
  for info in "$new/wheels"/*.dist-info; do
    mv "$info" "$root/licenses/"
  done
  cp "$lib/$name-wheels.txt" "$root/wheels.txt"
  if [ "$name" = cuda ]; then complete_cuda_root "$root"; fi
  chmod -R a+rX "$root"
  rm -rf "${prefix:?}/$name"
  mv "$root" "$prefix/$name"
  rm -rf "$new"
}

wheel_names() { sed -n 's/^\([a-z0-9-]*==[0-9.]*\).*$/\1/p' "$lib/$1-wheels.txt" | paste -sd ' ' -; }

# complete_cuda_root ROOT: the names that nvcc and linkers expect and wheels do not carry.
complete_cuda_root() {
  # nvcc passes -L ROOT/lib64, and -lcudart means a libcudart.so.
  ln -sfn lib "$1/lib64"
  ln -sfn libcudart.so.13 "$1/lib/libcudart.so"
  # One wheel lets only its owner run the front end.
  chmod a+x "$1"/bin/* "$1"/nvvm/bin/*
}

# write_env PREFIX CUDA_ROOT NCCL_INCLUDE_DIR: leaves an unchanged file alone, for CMake's sake.
write_env() {
  local text
  text="# Written by scripts/setup: which CUDA toolkit and NCCL headers to build with.
set(DETCCL_SETUP_CUDA_ROOT \"$2\")
set(DETCCL_SETUP_NCCL_INCLUDE_DIR \"$3\")"
  if [ "$(cat "$1/env.cmake" 2>/dev/null)" != "$text" ]; then
    mkdir -p "$1"
    printf '%s\n' "$text" >"$1/env.cmake.new"
    mv "$1/env.cmake.new" "$1/env.cmake"
  fi
}
