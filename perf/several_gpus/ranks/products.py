# SPDX-License-Identifier: Apache-2.0
"""A matrix product alone and while collectives run on another stream."""
import math
import statistics
import time

import torch
import torch.distributed as dist

# rows of the matrices, products a batch, megabytes of a collective
SIZES = {"tiny": (64, 2, (0.01,)), "big": (8192, 12, (16, 256))}
ROUNDS = 5


class Timer:
    def __init__(self, gpu):
        self.gpu = gpu
        self.side = torch.cuda.Stream() if gpu else None

    def start(self, stream=None):
        if not self.gpu:
            return time.monotonic()
        event = torch.cuda.Event(enable_timing=True)
        event.record(stream or torch.cuda.current_stream())
        return event

    def wait(self):
        if self.gpu:
            torch.cuda.synchronize()
        dist.barrier()

    def between(self, a, b):
        """Milliseconds."""
        return a.elapsed_time(b) if self.gpu else 1000 * (b - a)


def collectives(op, megabytes, device):
    count, ranks = int(megabytes * 2**20) // 2 // 64 * 64, dist.get_world_size()
    data = torch.ones(count, dtype=torch.bfloat16, device=device)
    part = torch.empty(count // ranks, dtype=torch.bfloat16, device=device)
    yield f"all_reduce {megabytes} MB", lambda: dist.all_reduce(data, op=op)
    if device.type == "cuda":  # gloo has no such
        yield f"reduce_scatter {megabytes} MB", lambda: dist.reduce_scatter_tensor(part, data, op=op)


def beside(timer, call, calls, products, alone_ms, device):
    """A row's figures: `call` `calls` times at a time, `products` a batch of matrix products."""
    def run(count, with_products):
        timer.wait()
        if timer.gpu:
            timer.side.wait_stream(torch.cuda.current_stream())
            begin = timer.start(timer.side)
            with torch.cuda.stream(timer.side):
                for _ in range(count):
                    call()
            end = timer.start(timer.side)
        else:
            begin = timer.start()
            for _ in range(count):
                call()
            end = timer.start()
        first = timer.start()
        if with_products:
            products()
        last = timer.start()
        timer.wait()
        return timer.between(begin, end) / count, timer.between(first, last)

    alone = statistics.median(run(calls, False)[0] for _ in range(ROUNDS))
    # So many that they outlast the products, which they slow down, twice; as many on all ranks.
    wanted = torch.tensor([min(2000.0, math.ceil(3 * alone_ms / max(alone, 1e-3)))], device=device)
    dist.all_reduce(wanted, op=dist.ReduceOp.MAX)
    enough = max(1, int(wanted.item()))
    pairs = [run(enough, True) for _ in range(ROUNDS)]
    return {"collective_ms": alone, "calls": enough, "beside_collective_ms": statistics.median(p[0] for p in pairs),
            "beside_product_ms": statistics.median(p[1] for p in pairs)}


def beside_collectives(size, op, device):
    """A row of figures for each collective. `op`: "sum" or "avg"."""
    gpu = device.type == "cuda"
    op = dist.ReduceOp.AVG if op == "avg" and gpu else dist.ReduceOp.SUM
    rows, batch, sizes = SIZES[size]
    a, b = (torch.randn(rows, rows, device=device).to(torch.bfloat16) for _ in range(2))
    c, timer = torch.empty_like(a), Timer(gpu)

    def products():
        for _ in range(batch):
            torch.matmul(a, b, out=c)

    def product_alone():
        timer.wait()
        begin = timer.start()
        products()
        end = timer.start()
        timer.wait()
        return timer.between(begin, end)

    product_alone()
    answer = []
    for megabytes in sizes:
        for name, call in collectives(op, megabytes, device):
            call()
            alone = statistics.median(product_alone() for _ in range(ROUNDS))
            row = beside(timer, call, 10, products, alone, device)
            answer.append({"name": name, "product_ms": alone, "slowdown": row["beside_product_ms"] / alone} | row)
    return {"products": batch, "rows": answer}
