# SPDX-License-Identifier: Apache-2.0
"""One rank of a DDP training: a digest of the weights every so many steps. The bucket size must not show."""
import argparse
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from torch_common import batch, loss_of, print_digest, rank_and_size, set_up, transformer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=20, help="steps between digests")
    parser.add_argument("--bucket-mb", type=float, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--type", choices=("fp32", "bf16"), default="fp32")
    options = parser.parse_args()
    rank, _ = rank_and_size()
    device = set_up()
    dtype = torch.bfloat16 if options.type == "bf16" else torch.float32
    model = transformer(options.seed, device, dtype)
    parallel = DistributedDataParallel(model, bucket_cap_mb=options.bucket_mb)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    start = time.monotonic()
    for step in range(1, options.steps + 1):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(parallel, *batch(options.seed, step, rank, device))
        loss.backward()
        optimizer.step()
        if step % options.every == 0 or step in (1, options.steps):
            print_digest(f"step{step}", model.parameters())
    print(f"loss {loss.item():.6f} seconds {time.monotonic() - start:.1f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
