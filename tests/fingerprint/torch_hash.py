#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values of torch.hash_tensor (mode 0), from torch itself: one JSON object a line: dtype, hex (the data), hash.

Every type that torch's hash_tensor takes; for types of up to 16 bits also every bit pattern, alone, as one
"all" line per half of the patterns is not enough: their xor is taken over random subsets.
Exit status 77: there is no torch here.  --device cuda: on a GPU instead.
"""
import argparse
import json
import random
import sys

try:
    import torch
except ImportError:
    print("no torch here: nothing to compare with", file=sys.stderr)
    sys.exit(77)

SIZES = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2,
         "float32": 4, "float64": 8}
# Exponent and fraction bits.
FLOATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}


def is_nan(dtype, bits):
    if dtype not in FLOATS:
        return False
    exponent, fraction = FLOATS[dtype]
    return bits >> fraction & (2**exponent - 1) == 2**exponent - 1 and bits & (2**fraction - 1) != 0


def special(dtype):
    """Bit patterns at the edges of the format."""
    width = 8 * SIZES[dtype]
    bits = [0, 1, 2**(width - 1), 2**width - 1, 2**(width - 1) - 1]
    if dtype in FLOATS:
        exponent, fraction = FLOATS[dtype]
        for field in (0, 1, 2**exponent // 2, 2**exponent - 2, 2**exponent - 1):
            for low in (0, 1, 2**(fraction - 1), 2**fraction - 1):
                bits += [field << fraction | low, 1 << (width - 1) | field << fraction | low]
    return bits


def hash_of(dtype, data, device):
    tensor = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(getattr(torch, dtype)).to(device)
    return int(torch.hash_tensor(tensor).item())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=60, help="random tensors per type")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--no-nan", action="store_true", help="leave NaNs out")
    options = parser.parse_args()
    rng = random.Random(options.seed)

    def show(dtype, patterns):
        if options.no_nan:
            patterns = [0 if is_nan(dtype, bits) else bits for bits in patterns]
        data = b"".join(bits.to_bytes(SIZES[dtype], "little") for bits in patterns)
        value = hash_of(dtype, data, options.device)
        print(json.dumps({"dtype": dtype, "hex": data.hex(), "hash": f"{value:016x}"}))

    for dtype, size in SIZES.items():
        for bits in special(dtype):
            show(dtype, [bits])
        for case in range(options.cases):
            count = rng.choice((1, 2, 3, 7, 16, 33, 100))
            show(dtype, [rng.getrandbits(8 * size) for _ in range(count)])


if __name__ == "__main__":
    main()
