# SPDX-License-Identifier: Apache-2.0
"""One process of a JAX job that sums over all processes. With two, the bits are known: one addition."""
import hashlib
import os

import jax
import numpy as np

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
COUNT = 100003


def values(rank, dtype):
    random = np.random.default_rng(rank + 5)
    wide = random.standard_normal(COUNT) * 2.0 ** random.integers(-10, 10, COUNT)
    return wide.astype(np.float32).astype(dtype)


def main():
    jax.distributed.initialize(coordinator_address=f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}",
                               num_processes=SIZE, process_id=RANK, local_device_ids=[0])
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("ranks",))
    sharding = NamedSharding(mesh, PartitionSpec("ranks"))
    add = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "ranks"), mesh=mesh, in_specs=PartitionSpec("ranks"),
                                out_specs=PartitionSpec()))
    for dtype in (jnp.dtype(jnp.float32), jnp.dtype(jnp.bfloat16)):
        own = values(RANK, dtype)
        whole = jax.make_array_from_process_local_data(sharding, own[None], (SIZE, COUNT))
        result = np.asarray(add(whole).addressable_shards[0].data)[0]
        print(f"digest {dtype.name} {hashlib.sha256(result.tobytes()).hexdigest()[:32]}", flush=True)
        if SIZE == 2:
            wanted = (values(0, dtype).astype(np.float32) + values(1, dtype).astype(np.float32)).astype(dtype)
            if result.tobytes() != wanted.tobytes():
                raise SystemExit(f"{dtype.name}: not the sum rounded once")
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
