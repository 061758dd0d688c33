#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# That tests/gpu/run notices what goes wrong: wrong bits, a rank that dies, a library that is not there.
#   run_test.sh BUILD
set -u
build=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "FAILED: $1"
  cat "$folder/output"
  exit 1
}

# run EXIT_STATUS OPTIONS...
run() {
  local wanted=$1
  shift
  timeout 240 "$here/run" --host --ranks 3 --quick --out "$folder/out" "$@" >"$folder/output" 2>&1
  local status=$?
  [ $status = "$wanted" ] || fail "exit status $status instead of $wanted: $*"
}

# NCCL's own sums in place of DetCCL's.
mkdir -p "$folder/native/lib" "$folder/none/lib"
ln -s "$build/lib/hostnccl" "$folder/native/lib/hostnccl"
ln -s "$build/lib/hostnccl/libnccl.so.2" "$folder/native/lib/libdetccl.so"
program=(--program "$build/tests/promises")
run 1 --build "$folder/native" "${program[@]}" --only large.bfloat16
grep -q "elements are not the contract's" "$folder/output" || fail "wrong bits were not noticed"
run 0 --build "$build" --only large.bfloat16 --only arguments.codes

# A rank that dies in the first case: the other cases run nevertheless.
cat >"$folder/dying" <<END
#!/bin/bash
[[ "\$*" == *"--rank 1 "*"--cases large.int8"* ]] || exec "$build/tests/promises" "\$@"
"$build/tests/promises" "\$@" | while read -r line; do
  echo "\$line"
  kill -9 0  # the first line says that it has started; this process group is the rank's own
done
END
chmod +x "$folder/dying"
run 1 --build "$build" --program "$folder/dying" --only default --only large.int8 --only 'arguments.*' --stall 60
grep -q "4 cases, 0 skipped; 1 failed, first large.int8: rank 1 ended with -9" "$folder/output" ||
  fail "the case in which a rank died, and no other, must fail"

# Settings by name are compared with each other; what has no time is no failure.
run 0 --build "$build" --only large.float32 --variants 'schedule tree' --variants 'chunk 1M'
grep -q "chunk 1M = schedule tree " "$folder/output" || fail "the chosen settings must be compared"
run 0 --build "$build" --only promises --budget 2
grep -q "no time within --budget 2: " "$folder/output" || fail "the budget must end the run"

# One way of the ranks on hosts; a program that is not there is missed only where it is needed.
run 0 --build "$build" --ranks 2 --only 'groups: 2 x 1, auto'
grep -q "groups: 2 x 1, auto: cases" "$folder/output" || fail "the chosen layout must run"
grep -q "groups: 1 x 2" "$folder/output" && fail "no other layout was chosen"
for needs in '--only promises' '--only large.int8' --list; do
  # shellcheck disable=SC2086  # two words
  run 2 --build "$build" --program "$folder/missing" $needs
  grep -q "missing does not exist" "$folder/output" || fail "the missing program must be named: $needs"
done
run 0 --build "$build" --program "$folder/missing" --only phases

run 2 --build "$folder/none" "${program[@]}" --only large.int8
echo "all noticed"
