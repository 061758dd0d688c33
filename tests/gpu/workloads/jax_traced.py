# SPDX-License-Identifier: Apache-2.0
"""One process of a JAX job that sums over all processes several times; in one call one element may be another."""
import argparse
import hashlib

import jax
import numpy as np

from jax_common import COUNT, RANK, set_up


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--change-call", type=int, default=-1, help="from 0 on")
    parser.add_argument("--change-rank", type=int, default=-1)
    options = parser.parse_args()
    total = set_up()
    import jax.numpy as jnp

    bits = hashlib.sha256()
    for call in range(options.calls):
        own = np.random.default_rng(1009 * call + RANK).standard_normal(COUNT).astype(jnp.float32)
        if (call, RANK) == (options.change_call, options.change_rank):
            own[3] += 0.125
        bits.update(total(own).tobytes())
    print(f"digest end {bits.hexdigest()[:32]}", flush=True)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
