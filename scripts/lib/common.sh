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
