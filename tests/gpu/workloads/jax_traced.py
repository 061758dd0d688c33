# SPDX-License-Identifier: Apache-2.0
"""One process of a JAX job that sums over all processes several times; in one call one element may be another."""
import argparse
import hashlib
import os

import jax
import numpy as np

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
COUNT = 100003


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--change-call", type=int, default=-1, help="from 0 on")
    parser.add_argument("--change-rank", type=int, default=-1)
    options = parser.parse_args()
    jax.distributed.initialize(coordinator_address=f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}",
                               num_processes=SIZE, process_id=RANK, local_device_ids=[0])
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("ranks",))
    sharding = NamedSharding(mesh, PartitionSpec("ranks"))
    add = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "ranks"), mesh=mesh, in_specs=PartitionSpec("ranks"),
                                out_specs=PartitionSpec()))
    bits = hashlib.sha256()
    for call in range(options.calls):
        own = np.random.default_rng(1009 * call + RANK).standard_normal(COUNT).astype(jnp.float32)
        if (call, RANK) == (options.change_call, options.change_rank):
            own[3] += 0.125
        whole = jax.make_array_from_process_local_data(sharding, own[None], (SIZE, COUNT))
        bits.update(np.asarray(add(whole).addressable_shards[0].data).tobytes())
    print(f"digest end {bits.hexdigest()[:32]}", flush=True)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
