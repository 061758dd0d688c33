# SPDX-License-Identifier: Apache-2.0
# What DetCCL needs from the distribution, and how to find out that it is there; sourced by setup.

# package (a|b: the first that the distribution has); a probe for machines where it was installed
# some other way; what needs it. Probes: cmd:PROGRAM, pc:PKG_CONFIG_NAME, py:MODULE, file:GLOB.
base_packages='
g++                cmd:g++              the compiler
cmake              cmd:cmake            the build
ninja-build        cmd:ninja            the build
pkg-config         cmd:pkg-config       finding UCX
openmpi-bin        cmd:mpirun           launching ranks
libopenmpi-dev     pc:ompi              the sweeps and multi-process tests
libucx-dev         pc:ucx               the transport between processes
libgtest-dev       pc:gtest             the tests
libgmock-dev       pc:gmock             the tests
libcli11-dev       pc:CLI11             the command-line programs
libzstd-dev        pc:libzstd           packing sealed traces
libfmt-dev         pc:fmt               messages
nlohmann-json3-dev pc:nlohmann_json     JSON output of the programs
python3            cmd:python3          scripts and the contract oracle
ccache             cmd:ccache           quick second builds
jq                 cmd:jq               scripts that read JSON
'
dev_packages='
clang              cmd:clang            the fuzzers and a second compiler
libclang-rt-dev|libclang-rt-18-dev file:/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a the sanitizers under clang
clang-format       cmd:clang-format     the format check
clang-tidy         cmd:clang-tidy       the lint check
debootstrap        cmd:debootstrap      the test of setup on a fresh system
'
optional_packages='
libsimgrid-dev     file:/usr/include/simgrid/s4u.hpp detccl simulate
'
wheel_packages='
python3-venv       py:ensurepip         unpacking the CUDA and NCCL wheels
ca-certificates    file:/etc/ssl/certs/ca-certificates.crt fetching the CUDA and NCCL wheels
'

probe() {
  case $1 in
    cmd:*) have "${1#cmd:}" ;;
    pc:*) have pkg-config && pkg-config --exists "${1#pc:}" ;;
    py:*) have python3 && python3 -c "import ${1#py:}" 2>/dev/null ;;
    file:*) compgen -G "${1#file:}" >/dev/null ;;
  esac
}

# missing_packages TABLE: the table's rows that neither dpkg nor their probe finds.
missing_packages() {
  local table=$1 installed='' packages probe_name purpose package
  if have dpkg-query; then
    installed=$(awk '{ gsub(/\|/, "\n", $1); print $1 }' <<<"$table" |
      xargs dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
      awk '$1 == "ii" { print $2 }') || true
  fi
  while read -r packages probe_name purpose; do
    [ -n "$packages" ] || continue
    for package in ${packages//|/ }; do
      grep -qxF "$package" <<<"$installed" && continue 2
    done
    probe "$probe_name" || printf '%s %s %s\n' "$packages" "$probe_name" "$purpose"
  done <<<"$table"
}

is_debian_like() {
  local ids
  ids=$(. /etc/os-release 2>/dev/null && echo " ${ID:-} ${ID_LIKE:-} ") || return 1
  [[ $ids == *' debian '* || $ids == *' ubuntu '* ]] && have apt-get
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -- "$@"
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=5 "$@" </dev/null
}

# report_missing ROWS: one line for each, on stderr.
report_missing() {
  local packages _ purpose
  while read -r packages _ purpose; do
    warn "missing: ${packages%%|*} (needed for $purpose)"
  done <<<"$1"
}

# install_packages ROWS: from the distribution, or a line for each that cannot be had and exit 1.
install_packages() {
  local rows=$1 chosen=() unknown='' packages probe_name purpose package left
  if ! is_debian_like; then
    report_missing "$rows"
    die 'this is neither Debian nor Ubuntu: install the packages above by hand, then call setup again'
  fi
  if [ "$(id -u)" -ne 0 ] && ! have sudo; then
    report_missing "$rows"
    die 'not root, and there is no sudo: install the packages above as root, then call setup again'
  fi
  apt update || warn 'apt-get update failed; going on with the package lists that are here'
  while read -r packages probe_name purpose; do
    for package in ${packages//|/ }; do
      if [ -n "$(apt-cache --quiet=2 madison "$package" 2>/dev/null)" ]; then
        chosen+=("$package")
        continue 2
      fi
    done
    unknown+="$packages $probe_name $purpose"$'\n'
  done <<<"$rows"
  if [ -n "$unknown" ]; then
    report_missing "${unknown%$'\n'}"
    die 'cannot install the packages above: the package sources of this machine do not have them'
  fi
  say "installing ${chosen[*]}"
  # The packages' own chatter goes to a log, shown when something fails.
  local log
  log=$(mktemp)
  if ! apt install -y --no-install-recommends "${chosen[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
  fi
  rm -f "$log"
  left=$(missing_packages "$rows")
  if [ -n "$left" ]; then
    report_missing "$left"
    die 'apt-get could not install the packages above'
  fi
}

# install_optional ROWS: what the distribution has of them; the build does without the rest.
install_optional() {
  local package _ purpose
  while read -r package _ purpose; do
    [ -n "$package" ] || continue
    if is_debian_like && [ -n "$(apt-cache --quiet=2 madison "$package" 2>/dev/null)" ] &&
      apt install -y --no-install-recommends "$package" >/dev/null 2>&1; then
      say "installed $package"
    else
      warn "no $package here: the build leaves out $purpose"
    fi
  done <<<"$1"
}

# check_versions: the tools that are there but too old, one line each, and exit 1.
check_versions() {
  local cmake_version gcc_version
  cmake_version=$(cmake --version | awk 'NR == 1 { print $3 }')
  gcc_version=$(g++ -dumpfullversion)
  version_at_least "$cmake_version" 3.25 ||
    die "cmake $cmake_version is too old: the build needs 3.25 or later"
  version_at_least "$gcc_version" 12 || die "g++ $gcc_version is too old: the build needs 12 or later"
}
