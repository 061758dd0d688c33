# SPDX-License-Identifier: Apache-2.0
"""One rank that makes so many collectives of each kind, and says how long they took."""
import argparse
import time

import torch
import torch.distributed as dist

from torch_common import set_up


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=40)
    options = parser.parse_args()
    device = set_up()
    size = dist.get_world_size()
    cases = {}
    for name, count, dtype in (("small", 1 << 10, torch.float32), ("large", 1 << 20, torch.bfloat16)):
        data = torch.ones(count, dtype=dtype, device=device)
        cases[f"all_reduce {name}"] = lambda data=data: dist.all_reduce(data, op=dist.ReduceOp.AVG)
    source = torch.ones(size << 18, dtype=torch.float32, device=device)
    shard = torch.empty(1 << 18, dtype=torch.float32, device=device)
    cases["reduce_scatter"] = lambda: dist.reduce_scatter_tensor(shard, source)
    for name, call in cases.items():
        start = time.monotonic()
        for _ in range(options.calls):
            call()
        torch.cuda.synchronize()
        print(f"took {name}: {(time.monotonic() - start) / options.calls * 1e6:.1f} us a call", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
