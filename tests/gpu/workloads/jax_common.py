# SPDX-License-Identifier: Apache-2.0
"""What the JAX jobs share: the sum over all processes, one device each."""
import os

import jax
import numpy as np

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
COUNT = 100003


def set_up():
    """A function from this process's COUNT values to the sum of all processes'."""
    jax.distributed.initialize(coordinator_address=f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}",
                               num_processes=SIZE, process_id=RANK, local_device_ids=[0])
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("ranks",))
    sharding = NamedSharding(mesh, PartitionSpec("ranks"))
    add = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "ranks"), mesh=mesh, in_specs=PartitionSpec("ranks"),
                                out_specs=PartitionSpec()))

    def total(own):
        whole = jax.make_array_from_process_local_data(sharding, own[None], (SIZE, COUNT))
        return np.asarray(add(whole).addressable_shards[0].data)[0]

    return total
