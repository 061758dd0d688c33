# SPDX-License-Identifier: Apache-2.0
# Messages and timing for the scripts here; sourced, never run.

# The name in front of every message: "setup", "test", "ci".
script_name=${script_name:-$(basename "$0")}

say() { printf '%s: %s\n' "$script_name" "$*"; }
warn() { printf '%s: %s\n' "$script_name" "$*" >&2; }
die() { warn "$*"; exit 1; }
usage_error() { warn "$* (see --help)"; exit 2; }

have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANTED: dotted numbers compared field by field.
version_at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# What multi-process tests need on any machine: loopback only, more ranks than cores, and root in containers.
test_environment() {
  export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}
  export OMPI_MCA_rmaps_base_oversubscribe=1
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
