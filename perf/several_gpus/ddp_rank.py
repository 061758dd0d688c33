# SPDX-License-Identifier: Apache-2.0
"""One rank of a DDP training of a transformer in bf16: prints its step times and a digest of the weights as JSON.

Nothing here but the reductions depends on the other ranks, on buckets or on where this one runs."""
import argparse
import hashlib
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.parallel import DistributedDataParallel

# layers, width, heads, vocabulary, sequence, sequences a rank
SIZES = {"tiny": (2, 64, 2, 128, 16, 2), "billion": (16, 2048, 16, 32768, 1024, 4)}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first_norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(nn.functional.gelu(self.up(self.second_norm(x))))


class Transformer(nn.Module):
    def __init__(self, layers, width, heads, vocabulary):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.token(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def average_hook(_, bucket):
    """NCCL divides, rather than DDP before it: an average of two ranks is not a plain sum."""
    work = dist.all_reduce(bucket.buffer(), op=dist.ReduceOp.AVG, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def digest(parameters):
    sha = hashlib.sha256()
    for p in parameters:
        sha.update(p.detach().reshape(-1).view(torch.uint8).cpu().numpy())
    return sha.hexdigest()[:32]


class Clock:
    """Marks on the GPU's stream, or on the host's clock."""

    def __init__(self, device):
        self.gpu, self.marks = device.type == "cuda", []

    def mark(self):
        mark = torch.cuda.Event(enable_timing=True) if self.gpu else time.monotonic()
        if self.gpu:
            mark.record()
        self.marks.append(mark)

    def milliseconds(self):
        if self.gpu:
            torch.cuda.synchronize()
            return [a.elapsed_time(b) for a, b in zip(self.marks, self.marks[1:])]
        return [1000 * (b - a) for a, b in zip(self.marks, self.marks[1:])]


def train(options, device, rank):
    layers, width, heads, vocabulary, length, sequences = SIZES[options.size]
    torch.manual_seed(1)
    with device:
        model = Transformer(layers, width, heads, vocabulary).to(torch.bfloat16)
    parallel = DistributedDataParallel(model, bucket_cap_mb=options.bucket_mb, gradient_as_bucket_view=True)
    if options.average and device.type == "cuda":  # gloo has no averages
        parallel.register_comm_hook(None, average_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    generator, clock, loss = torch.Generator().manual_seed(1000 + rank), Clock(device), None
    batches = [torch.randint(0, vocabulary, (sequences, length + 1), generator=generator).to(device) for _ in range(8)]
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        for step in range(options.warmup + options.steps):
            if step >= options.warmup:
                clock.mark()
            tokens = batches[step % len(batches)]
            optimizer.zero_grad(set_to_none=True)
            logits = parallel(tokens[:, :-1])
            loss = nn.functional.cross_entropy(logits.float().reshape(-1, vocabulary), tokens[:, 1:].reshape(-1))
            loss.backward()
            optimizer.step()
    clock.mark()
    times = sorted(clock.milliseconds())
    return {"parameters": sum(p.numel() for p in model.parameters()), "tokens": sequences * length,
            "steps": len(times), "loss": round(loss.item(), 6), "digest": digest(model.parameters()),
            "step_ms": {"min": times[0], "median": statistics.median(times), "p95": times[int(0.95 * len(times))],
                        "max": times[-1]}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=8)
    parser.add_argument("--bucket-mb", type=float, default=25)
    parser.add_argument("--size", choices=SIZES, default="billion")
    parser.add_argument("--average", action="store_true", help="NCCL divides, instead of DDP before it")
    options = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # nothing reads it, and it takes time
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", 0) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo")
    answer = train(options, device, int(os.environ["RANK"]))
    print(json.dumps(answer), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
