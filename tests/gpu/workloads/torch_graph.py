# SPDX-License-Identifier: Apache-2.0
"""One rank of a training whose whole step, with its all_reduce, is one CUDA graph; or the same eagerly."""
import argparse

import torch
import torch.distributed as dist

from torch_common import batch, loss_of, print_digest, rank_and_size, set_up, transformer

WARM = 3  # eager steps before the capture, in both modes


class Training:
    def __init__(self, seed, device, rank, ranks):
        self.seed, self.device, self.rank, self.ranks = seed, device, rank, ranks
        self.model = transformer(seed, device, torch.float32)
        self.parameters = list(self.model.parameters())
        self.tokens, self.targets = batch(seed, 0, rank, device)
        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)

    def step(self):
        """Reads and writes the same memory every time."""
        for parameter in self.parameters:
            parameter.grad.zero_()
        loss_of(self.model, self.tokens, self.targets).backward()
        # One fused bucket, and the last one on its own.
        flat = torch.cat([parameter.grad.reshape(-1) for parameter in self.parameters[:-1]])
        dist.all_reduce(flat)
        dist.all_reduce(self.parameters[-1].grad)
        with torch.no_grad():
            at = 0
            for parameter in self.parameters[:-1]:
                count = parameter.numel()
                parameter.grad.copy_(flat[at:at + count].view_as(parameter))
                at += count
            for parameter in self.parameters:
                parameter.sub_(parameter.grad, alpha=0.05 / self.ranks)

    def load(self, step):
        tokens, targets = batch(self.seed, step, self.rank, self.device)
        self.tokens.copy_(tokens)
        self.targets.copy_(targets)


def main():
    parser = argparse.ArgumentParser()
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--graph", action="store_true")
    mode.add_argument("--eager", action="store_true")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rank, ranks = rank_and_size()
    device = set_up()
    if options.graph and device.type != "cuda":
        raise SystemExit("--graph needs a GPU")
    training = Training(options.seed, device, rank, ranks)
    side = torch.cuda.Stream() if device.type == "cuda" else None
    with torch.cuda.stream(side):  # of None: no change
        for step in range(WARM):
            training.load(step)
            training.step()
    run = training.step
    if options.graph:
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            training.step()
        run = graph.replay
    elif side is not None:
        torch.cuda.current_stream().wait_stream(side)
    for step in range(WARM, options.steps):
        training.load(step)
        run()
        if step % 20 == 0:
            print_digest(f"step{step}", training.parameters)
    print_digest("end", training.parameters)
    if options.graph:
        torch.cuda.synchronize()
        del run, graph  # before the process group
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
