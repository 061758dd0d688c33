# SPDX-License-Identifier: Apache-2.0
"""One rank that makes and ends process groups: subgroups, splits, destroy and again, and an abort at the end."""
import os
import time

import torch
import torch.distributed as dist

from torch_common import print_digest, rank_and_size, set_up


def reduced(device, rank, group=None):
    generator = torch.Generator().manual_seed(77 + rank)
    tensor = torch.randn(100003, generator=generator).to(device)
    dist.all_reduce(tensor, group=group)
    return tensor


def subgroups(device, rank, ranks):
    halves = [dist.new_group([r for r in range(ranks) if r % 2 == parity]) for parity in (0, 1)]
    print_digest("half", [reduced(device, rank, halves[rank % 2])])
    everyone = dist.new_group(list(range(ranks)))
    whole = reduced(device, rank, everyone)
    print_digest("subgroup", [whole])
    if not torch.equal(whole, reduced(device, rank)):
        raise SystemExit("a group of all ranks has other bits than the default group")
    for group in (halves[rank % 2], everyone):
        dist.destroy_process_group(group)


def again(device_of, rank, first):
    """Destroyed and made again, at another port: the same bits."""
    for attempt in range(3):
        dist.destroy_process_group()
        os.environ["MASTER_PORT"] = str(int(os.environ["MASTER_PORT"]) + 1)
        device = device_of()
        if not torch.equal(first, reduced(device, rank)):
            raise SystemExit(f"other bits after init {attempt + 2}")
    print_digest("again", [first])


def abort(device, rank, ranks):
    """The last rank does not come; the others give up. Must end in time, not by a watchdog."""
    if device.type != "cuda":
        dist.destroy_process_group()
        return
    tensor = torch.ones(1 << 20, device=device)
    if rank != ranks - 1:
        dist.all_reduce(tensor, async_op=True)
    time.sleep(1)
    start = time.monotonic()
    dist.distributed_c10d._abort_process_group()  # noqa: SLF001
    seconds = time.monotonic() - start
    print(f"aborted in {seconds:.2f} s", flush=True)
    if seconds > 30:
        raise SystemExit("the abort took too long")


def main():
    rank, ranks = rank_and_size()

    def device_of():
        # With a device the communicator is made at once, and subgroups are split off it.
        bound = {"device_id": torch.device("cuda", 0)} if torch.cuda.is_available() else {}
        return set_up(**bound)

    device = device_of()
    first = reduced(device, rank)
    print_digest("first", [first])
    subgroups(device, rank, ranks)
    again(device_of, rank, first)
    abort(device, rank, ranks)
    print("done", flush=True)


if __name__ == "__main__":
    main()
