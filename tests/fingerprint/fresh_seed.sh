#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the fingerprint with the definition in Python on 150 payloads of a new seed.
# Usage: fresh_seed.sh PYTHON VECTORS_TEST [SEED]
set -eu
python=$1
vectors_test=$2
seed=${3:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "seed $seed"
vectors=$(mktemp)
trap 'rm -f "$vectors"' EXIT
"$python" "$(dirname "$0")/reference.py" --seed "$seed" --cases 150 >"$vectors"
DETCCL_TEST_VECTORS=$vectors "$vectors_test" --gtest_filter=Vectors.SumsDigestsAndChunkTables
