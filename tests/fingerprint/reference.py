#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of docs/fingerprint.md in plain Python: sums, digest and chunk table of random payloads.

Written from the page, sharing nothing with the library. Prints test vectors, one JSON object a line:
  bytes        the payload's length
  first_word   the number of its first word, for "sums"
  hex          the payload
  sums         [a, b], hexadecimal
  digest       32 hexadecimal digits, of the payload from word 0
  chunk_bytes, chunks   a chunk table of the payload from word 0
"""
import argparse
import json
import math
import random

MASK = 2**64 - 1


def root(prime, bits):
    """So many bits after the point of the prime's square root, by integer arithmetic."""
    return math.isqrt(prime << 2 * bits) & (2**bits - 1)


STEP, FIRST = root(2, 128) | 1, root(3, 128)
OTHER_U, OTHER_V = root(5, 64), root(7, 64)
LENGTH = root(11, 64) | 1
ROUNDS = [root(p, 64) | 1 for p in (13, 17, 19, 23)]


def folded_product(a, b):
    product = a * b
    return (product >> 64) ^ (product & MASK)


def sums(payload, first_word):
    a = b = 0
    for start in range(0, len(payload), 16):
        word = payload[start:start + 16].ljust(16, b"\0")
        position = first_word + start // 16
        key = (FIRST + position * STEP) % 2**128
        u = int.from_bytes(word[:8], "little") ^ key >> 64
        v = int.from_bytes(word[8:], "little") ^ key >> 64 ^ key & MASK
        first = folded_product(u, v)
        second = folded_product(first ^ u ^ OTHER_U, v ^ OTHER_V)
        a += first ^ second
        b += second
    return a & MASK, b & MASK


def digest(payload):
    a, b = sums(payload, 0)
    a = (a + len(payload) * LENGTH) & MASK
    b ^= folded_product(a ^ OTHER_U, ROUNDS[0])
    a ^= folded_product(b ^ OTHER_V, ROUNDS[1])
    b ^= folded_product(a ^ OTHER_U, ROUNDS[2])
    a ^= folded_product(b ^ OTHER_V, ROUNDS[3])
    return f"{a:016x}{b:016x}"


def payload_of(rng, kind, size):
    if kind == "zeros":
        return bytes(size)
    if kind == "ones":
        return b"\xff" * size
    if kind == "repeated":
        return (rng.randbytes(rng.choice((1, 2, 4, 8))) * size)[:size]
    if kind == "counting":
        return b"".join(i.to_bytes(4, "little") for i in range(size // 4 + 1))[:size]
    if kind == "sparse":
        data = bytearray(size)
        for _ in range(min(size, 3)):
            data[rng.randrange(size)] = 1 << rng.randrange(8)
        return bytes(data)
    return rng.randbytes(size)


def vector(rng, size, kind, first_word):
    payload = payload_of(rng, kind, size)
    chunk = 16 * rng.randrange(1, max(2, size // 32))
    table = [sums(payload[at:at + chunk], at // 16) for at in range(0, size, chunk)]
    total = sums(payload, 0)
    assert tuple(sum(half) & MASK for half in zip(*table)) == (total if table else ())
    return {
        "bytes": size,
        "first_word": first_word,
        "hex": payload.hex(),
        "sums": [f"{half:016x}" for half in sums(payload, first_word)],
        "digest": digest(payload),
        "chunk_bytes": chunk,
        "chunks": [[f"{half:016x}" for half in entry] for entry in table],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=120)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    kinds = ("random", "zeros", "ones", "repeated", "counting", "sparse")
    for case in range(options.cases):
        size = case if case < 40 else rng.choice((64, 200, 1024, 5000)) + rng.randrange(48)
        first = rng.choice((0, 1, 2**rng.randrange(60), 2**32 - 2, 2**60 - 1, rng.randrange(2**50)))
        print(json.dumps(vector(rng, size, kinds[rng.randrange(6) if case else 1], first)))


if __name__ == "__main__":
    main()
