#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER SEEDS COMPILER_ARGUMENTS…: builds the fuzz target in FOLDER and runs it for DETCCL_FUZZ_SECONDS
# (20). SEEDS: a folder of inputs to begin with, or the program that generates traces. Exit status 77: no clang
# with libFuzzer.
# What makes it fail is kept in FOLDER/findings.
set -euo pipefail

folder=$1
given=$2
shift 2
seconds=${DETCCL_FUZZ_SECONDS:-20}

mkdir -p "$folder"
cd "$folder"
echo '#include <cstddef>
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, std::size_t) { return 0; }' >probe.cc
if ! clang++ -fsanitize=fuzzer,address,undefined probe.cc -o probe 2>/dev/null; then
  echo 'no clang++ with libFuzzer: skipped'
  exit 77
fi

sources=()
options=()
libraries=()
for argument in "$@"; do
  case $argument in
    *.cc) sources+=("$argument") ;;
    *.a) libraries+=("$argument") ;;
    *) options+=("$argument") ;;
  esac
done
# One at a time through the compiler cache, if there is one.
compiler=(clang++)
if command -v ccache >/dev/null; then compiler=(ccache clang++); fi
flags=(-std=c++20 -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
compile() {
  "${compiler[@]}" "${flags[@]}" -c "$1" -o "$(basename "$1").o" "${options[@]}"
}
objects=()
for source in "${sources[@]}"; do
  compile "$source"
  objects+=("$(basename "$source").o")
done
clang++ -fsanitize=fuzzer,address,undefined "${objects[@]}" "${libraries[@]}" -pthread -o fuzz_target

rm -rf seeds
mkdir -p corpus findings seeds
if [ -d "$given" ]; then
  cp "$given"/* corpus
else
  "$given" seeds/raw --ranks 8 --steps 2
  "$given" seeds/packed --ranks 8 --steps 2 --seal
  for kind in raw packed; do
    for rank in 0 7; do cp "seeds/$kind/rank-0000$rank.dtr" "corpus/$kind-$rank"; done
  done
fi
./fuzz_target -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
  -artifact_prefix=findings/ -print_final_stats=1 corpus
