# SPDX-License-Identifier: Apache-2.0
# From nothing: a minimal Debian 12 in a folder, with only what debootstrap puts there, then scripts/setup
# in it, twice, then a command (default: the build of wheels_project).
# Usage, as root: fresh_debian.sh FOLDER [COMMAND]; FOLDER is emptied first and removed after a success.
# Exits 77 where it cannot be tried. Needs the package registries; takes about 2 GB.
set -euo pipefail

repo=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath -m -- "$1")
command=${2:-'cmake -G Ninja -S tests/setup/wheels_project -B /tmp/build -DDETCCL_PREFIX=$PWD/.deps \
  -DDETCCL_MODULES=$PWD/cmake && ninja -C /tmp/build && /tmp/build/wheels_project'}

if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null || ! unshare --mount --pid --fork true; then
  echo "not tried: needs root, debootstrap and namespaces"
  exit 77
fi

# The mirror that this machine uses, in either style of source list.
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
  awk '/^URIs:.*\/debian\/?$/ { print $2; exit } /^deb .*\/debian\/? / { for (i = 2; i <= NF; i++)
       if ($i ~ /^http.*\/debian\/?$/) { print $i; exit } }')
bootstrap() {
  rm -rf --one-file-system "$folder"
  mkdir -p "$folder"
  debootstrap --variant=minbase bookworm "$folder" ${mirror:+"$mirror"} >"$folder.log" 2>&1
}
# debootstrap has no retries of its own, and a mirror may fail once.
bootstrap || { tail -n 20 "$folder.log"; sleep 10; bootstrap; } || { tail -n 20 "$folder.log"; exit 1; }

# Names and certificate authorities of this machine's network.
cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
if [ -d /usr/local/share/ca-certificates ]; then
  cp -rL /usr/local/share/ca-certificates "$folder/usr/local/share/"
fi
# The working tree as it is, less what git ignores.
mkdir "$folder/root/detccl"
git -C "$repo" ls-files -z --cached --others --exclude-standard |
  tar -C "$repo" --null --ignore-failed-read -cf - -T - | tar -C "$folder/root/detccl" -xf -

unshare --mount --pid --fork bash -euc '
  cd "$0"
  mount -t proc proc proc
  mount -t sysfs sys sys
  mount --rbind /dev dev
  exec chroot . /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "
    cd /root/detccl
    if scripts/setup --check 2>/dev/null; then echo setup saw nothing missing; exit 1; fi
    scripts/setup
    scripts/setup
    scripts/setup --check
    $1"' "$folder" "$command" </dev/null
rm -rf --one-file-system "$folder"
