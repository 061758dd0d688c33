# SPDX-License-Identifier: Apache-2.0
"""One rank that reduces by CuPy's own NCCL binding; the unique id goes through the file $ID_FILE."""
import hashlib
import os
import pickle
import time

import cupy
from cupy.cuda import nccl

RANK, SIZE, FILE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["ID_FILE"]
COUNT = 100003 * SIZE


def unique_id():
    if RANK == 0:
        with open(FILE + ".part", "wb") as file:
            pickle.dump(nccl.get_unique_id(), file)
        os.rename(FILE + ".part", FILE)
    while not os.path.exists(FILE):
        time.sleep(0.01)
    with open(FILE, "rb") as file:
        return pickle.load(file)


def values(rank, dtype):
    random = cupy.random.RandomState(rank + 5)
    return random.standard_normal(COUNT).astype(dtype)


def digest(name, array):
    print(f"digest {name} {hashlib.sha256(cupy.asnumpy(array).tobytes()).hexdigest()[:32]}", flush=True)


def main():
    cupy.cuda.Device(0).use()
    comm = nccl.NcclCommunicator(SIZE, unique_id(), RANK)
    stream = cupy.cuda.Stream(non_blocking=True)
    for dtype, code in ((cupy.float32, nccl.NCCL_FLOAT32), (cupy.float64, nccl.NCCL_FLOAT64),
                        (cupy.float16, nccl.NCCL_FLOAT16)):
        name = cupy.dtype(dtype).name
        send = values(RANK, dtype)
        whole, part = cupy.zeros_like(send), cupy.zeros(COUNT // SIZE, dtype=dtype)
        cupy.cuda.Device(0).synchronize()
        comm.allReduce(send.data.ptr, whole.data.ptr, COUNT, code, nccl.NCCL_SUM, stream.ptr)
        comm.reduceScatter(send.data.ptr, part.data.ptr, COUNT // SIZE, code, nccl.NCCL_SUM, stream.ptr)
        stream.synchronize()
        digest(name, whole)
        own = whole[RANK * part.size:(RANK + 1) * part.size]
        if cupy.asnumpy(own).tobytes() != cupy.asnumpy(part).tobytes():
            raise SystemExit(f"{name}: all_reduce and reduce_scatter have other bits")
        stream.synchronize()
    comm.destroy()


if __name__ == "__main__":
    main()
