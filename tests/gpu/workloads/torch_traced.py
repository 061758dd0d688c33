# SPDX-License-Identifier: Apache-2.0
"""One rank of jobs that are traced: a training, one CUDA graph many times, or what tracing costs."""
import argparse
import ctypes
import json
import os
import signal
import time

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from torch_common import batch, loss_of, print_digest, rank_and_size, set_up, transformer

ELEMENTS = 16  # of the graph's tensor
NOT_TRACED = 1000000  # steps from here on are beyond DETCCL_TRACE_STEPS in the job that measures


class Training:
    def __init__(self, device, size, kind="ddp"):
        self.rank, _ = rank_and_size()
        self.device, self.size = device, size
        self.model = transformer(1, device, torch.float32)
        if kind == "fsdp2":
            for block in self.model.blocks:
                fully_shard(block)
            self.parallel = fully_shard(self.model)
        else:
            self.parallel = DistributedDataParallel(self.model, bucket_cap_mb=0.5)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.batch = batch(1, 0, self.rank, device, size)

    def step(self, number=None):
        if number is not None:
            self.batch = batch(1, number, self.rank, self.device, self.size)
        self.optimizer.zero_grad(set_to_none=True)
        loss_of(self.parallel, *self.batch).backward()
        self.optimizer.step()

    def on_gradient(self, module, function):
        """`function(gradient)` of the module's whole weight: under FSDP2 it is there from the forward pass on only."""
        hook = []

        def before(of, _):
            while hook:
                hook.pop().remove()
            hook.append(of.weight.register_hook(function))

        module.register_forward_pre_hook(before)


def train(options, device):
    training = Training(device, 4, options.kind)
    now = {"step": 0}

    def change(gradient):
        if (now["step"], training.rank) == (options.change_step, options.change_rank):
            gradient = gradient.clone()
            gradient.view(-1)[3] += 0.125
        return gradient

    def end(gradient):
        """The last gradient of a step: other reductions are under way."""
        if (now["step"], training.rank) == (options.kill_step, options.kill_rank):
            os.kill(os.getpid(), signal.SIGKILL)
        return gradient

    training.on_gradient(training.model.head, change)
    training.on_gradient(training.model.token, end)
    for step in range(1, options.steps + 1):
        now["step"] = step
        torch.cuda.nvtx.range_push(f"step {step}")
        training.step(step)
        torch.cuda.nvtx.range_pop()
        time.sleep(options.pause)
    whole = [p.full_tensor() if options.kind == "fsdp2" else p for p in training.model.parameters()]
    print_digest("end", whole)


def replay(options, device):
    rank, _ = rank_and_size()
    x = torch.arange(ELEMENTS, dtype=torch.float32, device=device) + 1000 * rank
    y = torch.empty_like(x)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        y.copy_(x)
        dist.all_reduce(y)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        x.add_(1)
        y.copy_(x)
        dist.all_reduce(y)
    start = time.monotonic()
    for count in range(options.replays):
        graph.replay()
        if count % 1000 == 999:
            torch.cuda.synchronize()
            print(f"replayed {count + 1}", flush=True)
    torch.cuda.synchronize()
    print(f"seconds {time.monotonic() - start:.2f}", flush=True)
    print_digest("end", [y])
    del graph


def synchronizations(training, mark, first, steps):
    """How often CUDA functions that wait for the device, or copy, were called, as CUPTI saw it."""
    from torch.profiler import ProfilerActivity, profile  # pylint: disable=import-outside-toplevel
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for step in range(steps):
            mark(first + step)
            training.step()
        torch.cuda.synchronize()
    calls = {}
    for event in profiler.key_averages():
        if event.key.startswith(("cuda", "cu")) and any(w in event.key for w in ("Sync", "Query", "Launch", "Memcpy")):
            calls[event.key] = calls.get(event.key, 0) + event.count
    return calls


def measure(options, device):
    """Blocks of steps, traced and not, in turn; the other one first in every second pair."""
    mark = ctypes.CDLL(None).detcclMarkStep
    training = Training(device, options.batch)
    done = {True: 0, False: 0}

    def block(traced, steps):
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            mark(done[traced] + (0 if traced else NOT_TRACED))
            done[traced] += 1
            training.step()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / steps * 1e3

    for traced in (True, False):
        block(traced, 5)
    pairs = []
    for pair in range(options.pairs):
        times = {traced: block(traced, options.block) for traced in ((True, False) if pair % 2 else (False, True))}
        pairs.append((times[True], times[False]))
    print("times " + json.dumps(pairs), flush=True)
    try:
        synchronizations(training, mark, NOT_TRACED + 500000, 3)  # the profiler's own beginning
        off = synchronizations(training, mark, NOT_TRACED + 500000, 10)
        on = synchronizations(training, mark, 500000, 10)
        print("calls " + json.dumps({"traced": on, "not traced": off}), flush=True)
    except Exception as error:  # pylint: disable=broad-except
        print(f"calls not counted: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("train", "replay", "measure"))
    parser.add_argument("--kind", choices=("ddp", "fsdp2"), default="ddp")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--change-step", type=int, default=-1)
    parser.add_argument("--change-rank", type=int, default=-1)
    parser.add_argument("--kill-step", type=int, default=-1)
    parser.add_argument("--kill-rank", type=int, default=-1)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds after each step")
    parser.add_argument("--replays", type=int, default=10000)
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--block", type=int, default=12, help="steps")
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    device = set_up()
    {"train": train, "replay": replay, "measure": measure}[options.what](options, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
