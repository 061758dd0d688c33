# SPDX-License-Identifier: Apache-2.0
# scripts/setup and scripts/test without the network: options, --check, and machines that it does not know.
set -uo pipefail
. "$(dirname "$0")/testing.sh"

expect 0 "Usage: scripts/setup" "$repo/scripts/setup" --help
expect 2 "unknown option '--wheel'" "$repo/scripts/setup" --wheel
expect 2 "--prefix needs a folder" "$repo/scripts/setup" --prefix

expect 0 "Usage: scripts/test" "$repo/scripts/test" --help
expect 2 "unknown preset 'fast'" "$repo/scripts/test" --preset fast
expect 2 "-R needs a value" "$repo/scripts/test" -R

# Everything that the build needs is here, for the build is what runs this test.
expect 0 "everything is in place" "$repo/scripts/setup" --check

# --check names the wheels that an empty prefix lacks, and leaves no trace.
empty=$(mktemp -d)
trap 'rmdir "$empty"' EXIT
expect 1 "missing: nvidia-cuda-nvcc==" "$repo/scripts/setup" --check --force-wheels --prefix "$empty/prefix"
expect 1 "missing: nvidia-nccl-cu13==2.28." "$repo/scripts/setup" --check --force-wheels --prefix "$empty/prefix"

# Another distribution: what to install by hand, and why.
os_release=$(mktemp)
trap 'rmdir "$empty"; rm "$os_release"' EXIT
printf 'ID=fedora\nID_LIKE=rhel\n' >"$os_release"
if can_unshare; then
  elsewhere=(in_namespace "mount --bind '$os_release' \"\$(readlink -f /etc/os-release)\""
    "${install_rows[@]}" 'no-such-package cmd:no-such-program this test')
  expect 1 "missing: no-such-package (needed for this test)" "${elsewhere[@]}"
  expect 1 "neither Debian nor Ubuntu" "${elsewhere[@]}"
else
  echo "not tried here, for want of mount namespaces: another distribution"
fi
finish
