# SPDX-License-Identifier: Apache-2.0
"""A transformer in bf16, and its training by DDP or FSDP2, block of steps by block of steps.

Nothing here but the reductions depends on the other ranks, on buckets or on where this one runs."""
import hashlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.parallel import DistributedDataParallel

# layers, width, heads, vocabulary, sequence, sequences a rank
SIZES = {"tiny": (2, 64, 2, 128, 16, 4), "billion": (16, 2048, 16, 32768, 1024, 8)}
BATCHES = 8


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


class Training:
    def __init__(self, mode, size, bucket_mb, average, device, sequences=None):
        """`mode`: "ddp" or "fsdp2". `average`: DDP's gradients by NCCL's averages; FSDP2's always are. `sequences`: a
        rank's, if not the size's."""
        layers, width, heads, self.vocabulary, length, usual = SIZES[size]
        self.sequences = sequences or usual
        self.gpu, self.step = device.type == "cuda", 0
        torch.manual_seed(1)
        torch.set_default_dtype(torch.bfloat16)
        with device:
            self.model = Transformer(layers, width, heads, self.vocabulary)
        torch.set_default_dtype(torch.float32)
        generator = torch.Generator().manual_seed(1000 + dist.get_rank())
        self.batches = [torch.randint(0, self.vocabulary, (self.sequences, length + 1), generator=generator).to(device)
                        for _ in range(BATCHES)]
        self.parameters = sum(p.numel() for p in self.model.parameters())
        self.tokens = self.sequences * length
        self.parallel = self.model
        if mode == "ddp":
            self.loss(self.batches[0]).backward()  # loads kernels: without the other ranks, at the same time as they
            self.model.zero_grad(set_to_none=True)
            self.parallel = DistributedDataParallel(self.model, bucket_cap_mb=bucket_mb, gradient_as_bucket_view=True)
            if average and self.gpu:  # gloo has no averages
                self.parallel.register_comm_hook(None, average_hook)
        else:
            for block in self.model.blocks:
                fully_shard(block)
            fully_shard(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.first = self.sample().clone()

    def loss(self, tokens):
        # Flash attention's backward pass is deterministic as deterministic algorithms are asked for.
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            logits = self.parallel(tokens[:, :-1]).reshape(-1, self.vocabulary)
        guesses = nn.functional.log_softmax(logits, dim=-1, dtype=torch.float32)
        return nn.functional.nll_loss(guesses, tokens[:, 1:].reshape(-1))

    def one_step(self, sequences):
        loss = self.loss(self.batches[self.step % BATCHES][:sequences])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return loss

    def steps(self, count, sequences=None):
        """Times of all steps but the first, which finds the GPU idle, from the end of one to the end of the next; and
        what the host took for the first one's calls."""
        marks, host, loss = [], 0.0, None
        for i in range(count):
            begin = time.monotonic()
            loss = self.one_step(sequences or self.sequences)
            host = 1000 * (time.monotonic() - begin) if i == 0 else host
            marks.append(self.mark())
        if self.gpu:
            torch.cuda.synchronize()
        between = [a.elapsed_time(b) if self.gpu else 1000 * (b - a) for a, b in zip(marks, marks[1:])]
        return {"step": self.step, "loss": loss.item(), "ms": between, "host_ms": host}

    def mark(self):
        if not self.gpu:
            return time.monotonic()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def sample(self):
        return local(self.model.blocks[0].qkv.weight)

    def moved(self):
        """The share of a layer's weights that are others than at first: equal weights say little where none is."""
        return (self.sample() != self.first).float().mean().item()

    def digest(self):
        """Of this rank's parameters, whole or shards."""
        sha = hashlib.sha256()
        for p in self.model.parameters():
            sha.update(local(p).reshape(-1).view(torch.uint8).cpu().numpy())
        return sha.hexdigest()[:32]


def local(parameter):
    return (parameter.to_local() if hasattr(parameter, "to_local") else parameter).detach()
