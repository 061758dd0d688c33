# SPDX-License-Identifier: Apache-2.0
# A few lines of test framework for the tests of the scripts; sourced.
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
checks=0
failures=0

# check DESCRIPTION COMMAND...: the command must succeed.
check() {
  local description=$1
  shift
  checks=$((checks + 1))
  if ! "$@"; then
    echo "FAILED: $description"
    failures=$((failures + 1))
  fi
}

# expect STATUS TEXT COMMAND...: the command must end with that status and print that text.
expect() {
  local status=$1 text=$2 output got
  shift 2
  output=$("$@" 2>&1 </dev/null)
  got=$?
  checks=$((checks + 1))
  if [ "$got" -ne "$status" ] || [[ $output != *"$text"* ]]; then
    printf 'FAILED: %s\n  ended with %s, not %s; expected "%s" in:\n%s\n' "$*" "$got" "$status" "$text" "$output"
    failures=$((failures + 1))
  fi
}

finish() {
  echo "$checks checks, $failures failed"
  [ "$failures" -eq 0 ]
}

# Installs rows of the package table, as scripts/setup does.
install_rows=(env script_name=setup bash -euo pipefail -c
  '. "$0/scripts/lib/common.sh"; . "$0/scripts/lib/packages.sh"; install_packages "$1"' "$repo")

can_unshare() { unshare --map-root-user --mount true 2>/dev/null; }

# in_namespace MOUNTS COMMAND...: runs the command where the given mounts are made, and nobody else sees them.
in_namespace() {
  local mounts=$1
  shift
  unshare --map-root-user --mount bash -c "$mounts"' && exec "$@"' in_namespace "$@"
}
