#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares torch_hash with torch.hash_tensor on tensors of a new seed; exit status 77 where there is no torch.
# Usage: torch_seed.sh PYTHON VECTORS_TEST [SEED]
set -eu
python=$1
vectors_test=$2
seed=${3:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "seed $seed"
vectors=$(mktemp)
trap 'rm -f "$vectors"' EXIT
"$python" "$(dirname "$0")/torch_hash.py" --seed "$seed" --cases 300 >"$vectors"
DETCCL_TEST_TORCH_VECTORS=$vectors "$vectors_test" --gtest_filter=Vectors.TorchHashes
